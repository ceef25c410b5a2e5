#include <algorithm>
#include <cstring>

#include "datatypes/cursor.hpp"
#include "datatypes/program.hpp"

namespace lath {
namespace {

using Address = std::uintptr_t;  // the buffer may be address 0 with absolute offsets

Address at(Address base, std::int64_t offset) {
  return base + static_cast<Address>(offset);
}

/// The direction of a copy. The packed side advances.
struct Pack {
  template <class Bytes>
  static void copy(Address memory, std::byte*& packed, Bytes bytes) {
    std::memcpy(packed, reinterpret_cast<const void*>(memory), static_cast<std::size_t>(bytes));
    packed += bytes;
  }
};
struct Unpack {
  template <class Bytes>
  static void copy(Address memory, std::byte*& packed, Bytes bytes) {
    std::memcpy(reinterpret_cast<void*>(memory), packed, static_cast<std::size_t>(bytes));
    packed += bytes;
  }
};

template <class Direction, class Block>
void copy_run(Address memory, std::byte*& packed, Block block, std::int64_t count, std::int64_t stride) {
  std::byte* out = packed;
  for (std::int64_t i = 0; i < count; ++i) {
    Direction::copy(memory, out, block);
    memory += static_cast<Address>(stride);
  }
  packed = out;
}

/// A block length that the compiler knows, so that each copy is a few moves.
template <std::int64_t bytes>
using Fixed = std::integral_constant<std::int64_t, bytes>;

/// Calls visit with the block length, as a constant where it is a common one.
template <class Visit>
void with_block(std::int64_t block, Visit&& visit) {
  switch (block) {
    case 1:
      return visit(Fixed<1>{});
    case 2:
      return visit(Fixed<2>{});
    case 4:
      return visit(Fixed<4>{});
    case 8:
      return visit(Fixed<8>{});
    case 12:
      return visit(Fixed<12>{});
    case 16:
      return visit(Fixed<16>{});
    case 24:
      return visit(Fixed<24>{});
    case 32:
      return visit(Fixed<32>{});
    case 40:
      return visit(Fixed<40>{});
    case 48:
      return visit(Fixed<48>{});
    case 64:
      return visit(Fixed<64>{});
    default:
      return visit(block);
  }
}

template <class Direction>
class Copier {
 public:
  explicit Copier(std::byte* packed) : packed_(packed) {}

  /// Copies the packed bytes [begin, end) of a form at `memory`.
  void copy(const Form& form, Address memory, std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    std::visit([&](const auto& body) { copy(body, memory, begin, end); }, form.body);
  }

 private:
  void copy(const NestBody& nest, Address memory, std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin / nest.block;
    const std::int64_t last = end / nest.block;
    const std::int64_t skipped = begin - first * nest.block;
    if (first == last) return cut(nest, memory, first, skipped, end - first * nest.block);
    if (skipped > 0) cut(nest, memory, first, skipped, nest.block);
    const std::int64_t whole = skipped > 0 ? first + 1 : first;
    if (whole < last)
      with_block(nest.block, [&](auto block) {
        blocks(block, nest.loops.data(), nest.loops.size(), memory, whole, last);
      });
    if (last * nest.block < end) cut(nest, memory, last, 0, end - last * nest.block);
  }

  /// Bytes [from, to) of one block.
  void cut(const NestBody& nest, Address memory, std::int64_t index, std::int64_t from, std::int64_t to) {
    for (std::size_t i = nest.loops.size(); i-- > 0;) {
      memory = at(memory, index % nest.loops[i].count * nest.loops[i].stride);
      index /= nest.loops[i].count;
    }
    Direction::copy(at(memory, from), packed_, to - from);
  }

  /// Whole blocks number [begin, end) of a nest of `depth` loops.
  template <class Block>
  void blocks(Block block, const Loop* loops, std::size_t depth, Address memory, std::int64_t begin,
              std::int64_t end) {
    if (depth == 0) return copy_run<Direction>(memory, packed_, block, 1, 0);
    if (depth == 1) {
      const Address first = at(memory, begin * loops->stride);
      return copy_run<Direction>(first, packed_, block, end - begin, loops->stride);
    }
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < depth; ++i) inner *= loops[i].count;
    for (std::int64_t turn = begin / inner; turn * inner < end; ++turn) {
      const std::int64_t from = std::max<std::int64_t>(begin - turn * inner, 0);
      const std::int64_t to = std::min(end - turn * inner, inner);
      const Address start = at(memory, turn * loops->stride);
      if (from == 0 && to == inner)
        whole(block, loops + 1, depth - 1, start);
      else
        blocks(block, loops + 1, depth - 1, start, from, to);
    }
  }

  template <class Block>
  void whole(Block block, const Loop* loops, std::size_t depth, Address memory) {
    if (depth == 1) return copy_run<Direction>(memory, packed_, block, loops->count, loops->stride);
    for (std::int64_t turn = 0; turn < loops->count; ++turn)
      whole(block, loops + 1, depth - 1, at(memory, turn * loops->stride));
  }

  void copy(const TableBody& table, Address memory, std::int64_t begin, std::int64_t end) {
    std::size_t i = entry_at(table.prefix, begin);
    std::int64_t skipped = begin - table.prefix[i];
    for (; begin < end; ++i) {
      const std::int64_t bytes = std::min(table.lengths[i] - skipped, end - begin);
      const Address from = at(memory, table.offsets[i] + skipped);
      with_block(bytes, [&](auto block) { Direction::copy(from, packed_, block); });
      begin += bytes;
      skipped = 0;
    }
  }

  void copy(const RepeatBody& repeat, Address memory, std::int64_t begin, std::int64_t end) {
    const std::int64_t bytes = repeat.inner->bytes;
    for (std::int64_t turn = begin / bytes; turn * bytes < end; ++turn) {
      const std::int64_t from = std::max<std::int64_t>(begin - turn * bytes, 0);
      copy(*repeat.inner, at(memory, turn * repeat.stride), from, std::min(end - turn * bytes, bytes));
    }
  }

  void copy(const SequenceBody& sequence, Address memory, std::int64_t begin, std::int64_t end) {
    for (std::size_t i = entry_at(sequence.prefix, begin); i < sequence.forms.size(); ++i) {
      const std::int64_t start = sequence.prefix[i];
      if (start >= end) return;
      const std::int64_t from = std::max<std::int64_t>(begin - start, 0);
      copy(*sequence.forms[i], at(memory, sequence.offsets[i]), from,
           std::min(end - start, sequence.forms[i]->bytes));
    }
  }

  static std::size_t entry_at(const std::vector<std::int64_t>& prefix, std::int64_t packed) {
    return static_cast<std::size_t>(std::upper_bound(prefix.begin(), prefix.end(), packed) - prefix.begin()) -
           1;
  }

  std::byte* packed_;
};

template <class Direction>
void copy(const Layout& layout, const void* base, PackedRange range, std::byte* packed) {
  const PlacedForm& root = layout.program().root;
  const std::int64_t end = std::min(range.end, layout.bytes());
  if (range.begin >= end) return;
  Copier<Direction>(packed).copy(*root.form, at(reinterpret_cast<Address>(base), root.offset), range.begin,
                                 end);
}

}  // namespace

void pack(const Layout& layout, const void* base, PackedRange range, void* packed) noexcept {
  copy<Pack>(layout, base, range, static_cast<std::byte*>(packed));
}

void unpack(const Layout& layout, void* base, PackedRange range, const void* packed) noexcept {
  // Unpack only reads through this pointer.
  copy<Unpack>(layout, base, range, static_cast<std::byte*>(const_cast<void*>(packed)));
}

}  // namespace lath
