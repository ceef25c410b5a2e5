#include "gpu/packer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "gpu/pack_image.hpp"
#include "gpu/pack_kernels.hpp"
#include "gpu/pack_word.hpp"
#include "gpu/uploaded_lists.hpp"

namespace lath::gpu {
namespace {

enum class Direction : unsigned char { pack, unpack };

constexpr std::size_t word_sizes = 5;

// Functions of one kind of kernel by direction and binary logarithm of the word.
using Functions = std::array<std::array<CUfunction, word_sizes>, 2>;

Functions load(const Module& module, const char* kind) {
  Functions out{};
  for (std::size_t i = 0; i < word_sizes; ++i) {
    out[0][i] = module.function(fmt::format("lath_pack_{}_{}", kind, 1 << i).c_str());
    out[1][i] = module.function(fmt::format("lath_unpack_{}_{}", kind, 1 << i).c_str());
  }
  return out;
}

CUfunction choose(const Functions& functions, Direction direction, const WordSplit& split) {
  return functions[static_cast<std::size_t>(direction)]
                  [static_cast<std::size_t>(std::countr_zero(split.word))];
}

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

// One call's work: a packed range of a buffer and where its bytes lie packed. `lowest` is the address of the
// layout's lowest byte, from which kernels count: the buffer address itself need not be in the same memory,
// nor in any.
struct Move {
  Direction direction;
  const Layout& layout;
  char* lowest;
  PackedRange range;
  char* packed;
  Stream& stream;
};

char* lowest_byte(const Layout& layout, const void* base) {
  return reinterpret_cast<char*>(number(base) + static_cast<std::uintptr_t>(layout.lowest()));
}

PackedShare share_of(const Move& move, std::int64_t at, std::int64_t begin, const WordSplit& split) {
  return {move.lowest,
          move.packed + (at - move.range.begin),
          static_cast<std::uint64_t>(begin),
          split.head,
          split.words,
          split.tail};
}

std::uint64_t geometry_of(const StridedNest& nest, std::uintptr_t first_block) {
  std::uint64_t bits = first_block;
  bits |= static_cast<std::uint64_t>(nest.loops.empty() ? 0 : nest.block);
  for (const auto& loop : nest.loops)
    if (loop.count > 1) bits |= static_cast<std::uint64_t>(loop.stride);
  return bits;
}

// The part of the layout that one list is to hold so that packed byte `at` is in it: the whole where that
// fits, else of a table the run that every call would take, so that the list serves whatever the ranges.
ListKey list_for(const Move& move, std::int64_t at) {
  const auto most = static_cast<std::int64_t>(UploadedLists::largest);
  if (move.layout.segment_count() <= most) return {move.layout.hash(), 0, move.layout.bytes()};
  const auto table = move.layout.table();
  if (!table) return {move.layout.hash(), at, move.range.end};
  const auto& prefix = table->prefix;
  const auto segment = std::upper_bound(prefix.begin(), prefix.end(), at) - prefix.begin() - 1;
  const auto first = segment / most * most;
  const auto last = std::min(first + most, static_cast<std::int64_t>(prefix.size()) - 1);
  return {move.layout.hash(), prefix[static_cast<std::size_t>(first)],
          prefix[static_cast<std::size_t>(last)]};
}

}  // namespace

struct Packer::State {
  explicit State(int device)
      : module(device, pack_image()),
        nest(load(module, "nest")),
        table(load(module, "table")),
        lists(device) {}

  Result run(const Move& move) noexcept;
  Result run_contiguous(const Move& move) noexcept;
  Result run_nest(const Move& move, const StridedNest& form) noexcept;
  Result run_lists(const Move& move) noexcept;
  Result run_list(const Move& move, const UploadedList& list, std::int64_t begin, std::int64_t end) noexcept;

  Module module;
  Functions nest;
  Functions table;
  UploadedLists lists;
};

Result Packer::State::run(const Move& move) noexcept {
  const auto& range = move.range;
  if (range.begin < 0 || range.begin > range.end || range.end > move.layout.bytes())
    return Result::failure(Code::invalid_argument,
                           fmt::format("packed range [{}, {}) is not within the layout's {} bytes",
                                       range.begin, range.end, move.layout.bytes()));
  if (range.bytes() == 0) return Result::done();
  const StridedNest* const form = move.layout.nest();
  if (form != nullptr && form->loops.empty()) return run_contiguous(move);
  if (form != nullptr && form->loops.size() <= max_rank) return run_nest(move, *form);
  return run_lists(move);
}

Result Packer::State::run_contiguous(const Move& move) noexcept {
  char* const user = move.lowest + move.range.begin;
  const auto bytes = static_cast<std::size_t>(move.range.bytes());
  return move.direction == Direction::pack ? move.stream.copy(move.packed, user, bytes)
                                           : move.stream.copy(user, move.packed, bytes);
}

Result Packer::State::run_nest(const Move& move, const StridedNest& form) noexcept {
  const auto begin = static_cast<std::uint64_t>(move.range.begin);
  const auto end = static_cast<std::uint64_t>(move.range.end);
  const auto offset = form.offset - move.layout.lowest();
  const auto geometry = geometry_of(form, number(move.lowest + offset));
  const auto split = split_words(geometry, number(move.packed), begin, end);
  NestArguments arguments{};
  arguments.share = share_of(move, move.range.begin, move.range.begin, split);
  arguments.offset = offset;
  arguments.block = static_cast<std::uint64_t>(form.block);
  arguments.rank = static_cast<int>(form.loops.size());
  std::transform(form.loops.begin(), form.loops.end(), arguments.loops, [](const Loop& loop) {
    return NestLoop{static_cast<std::uint64_t>(loop.count), loop.stride};
  });
  return move.stream.launch(choose(nest, move.direction, split), split.items(), &arguments);
}

Result Packer::State::run_lists(const Move& move) noexcept {
  const auto segments = static_cast<std::size_t>(move.layout.segment_count());
  for (std::int64_t at = move.range.begin; at < move.range.end;) {
    const auto key = list_for(move, at);
    const auto most = std::min(segments, static_cast<std::size_t>(key.end - key.begin));
    UploadedList* list = nullptr;
    // Lists that this very call uses become vacant by waiting alone: to give up half way would start it anew.
    const bool wait = at != move.range.begin;
    if (Result got = lists.acquire(move.layout, key, most, wait, move.stream, list); !got.is_done())
      return got;
    const auto end = std::min(list->covered(), move.range.end);
    Result launched = run_list(move, *list, at, end);
    Result released = lists.release(*list, move.stream);
    if (launched.is_error()) return launched;
    if (released.is_error()) return released;
    at = end;
  }
  return Result::done();
}

Result Packer::State::run_list(const Move& move, const UploadedList& list, std::int64_t begin,
                               std::int64_t end) noexcept {
  const std::int64_t first = begin - list.key().begin;
  const auto geometry = list.geometry() | number(move.lowest + list.first_offset());
  const auto* const packed = move.packed + (begin - move.range.begin);
  const auto split = split_words(geometry, number(packed), static_cast<std::uint64_t>(first),
                                 static_cast<std::uint64_t>(end - list.key().begin));
  const TableArguments arguments{share_of(move, begin, first, split), list.device_offsets(),
                                 list.device_prefix(), list.segments()};
  return move.stream.launch(choose(table, move.direction, split), split.items(), &arguments);
}

Packer::Packer(int device) : state_(std::make_unique<State>(device)) {}

Packer::~Packer() = default;

Result Packer::pack(const Layout& layout, const void* base, PackedRange range, void* packed,
                    Stream& stream) noexcept {
  return state_->run(
      {Direction::pack, layout, lowest_byte(layout, base), range, static_cast<char*>(packed), stream});
}

Result Packer::unpack(const Layout& layout, void* base, PackedRange range, const void* packed,
                      Stream& stream) noexcept {
  auto* const bytes = static_cast<char*>(const_cast<void*>(packed));
  return state_->run({Direction::unpack, layout, lowest_byte(layout, base), range, bytes, stream});
}

std::size_t Packer::memory_bytes() const noexcept {
  return state_->lists.memory_bytes();
}

std::size_t Packer::memory_limit_bytes() noexcept {
  return UploadedLists::memory_limit_bytes();
}

}  // namespace lath::gpu
