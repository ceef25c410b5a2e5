#include "datatypes/layout.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>

#include "datatypes/checked.hpp"
#include "datatypes/lowering.hpp"
#include "datatypes/program.hpp"

namespace lath {
namespace {

constexpr const char* bound_of_layout = "a layout's bound";
constexpr std::uint64_t largest_alignment = 4096;

LayoutHash hash_of(const PlacedForm& root) {
  std::array<std::uint64_t, 3> words{};
  if (root.form) words = {static_cast<std::uint64_t>(root.offset), root.form->hash.low, root.form->hash.high};
  const XXH128_hash_t hash = XXH3_128bits(words.data(), sizeof(words));
  return {hash.low64, hash.high64};
}

std::string text_of(const Form& form, std::int64_t offset, int depth);

struct FormText {
  std::int64_t offset;
  int depth;

  std::string operator()(const NestBody& nest) const {
    if (nest.loops.empty()) return fmt::format("contiguous offset {} length {}", offset, nest.block);
    std::string text = fmt::format("strided offset {} block {} loops", offset, nest.block);
    const char* separator = " ";
    for (const Loop& loop : nest.loops) {
      text += fmt::format("{}{} x {}", separator, loop.count, loop.stride);
      separator = ", ";
    }
    return text;
  }
  std::string operator()(const TableBody& table) const {
    return fmt::format("table offset {} segments {}", offset + table.offsets.front(), table.offsets.size());
  }
  std::string operator()(const RepeatBody& repeat) const {
    return fmt::format("loop {} x {} of {{{}}}", repeat.count, repeat.stride,
                       text_of(*repeat.inner, offset, depth + 1));
  }
  std::string operator()(const SequenceBody& sequence) const {
    constexpr std::size_t shown = 8;
    std::string text = fmt::format("sequence of {} {{", sequence.forms.size());
    for (std::size_t i = 0; i < sequence.forms.size() && i < shown; ++i) {
      if (i > 0) text += "; ";
      text += text_of(*sequence.forms[i], offset + sequence.offsets[i], depth + 1);
    }
    return text + (sequence.forms.size() > shown ? "; ...}" : "}");
  }
};

std::string text_of(const Form& form, std::int64_t offset, int depth) {
  if (depth > 3) return "...";
  return std::visit(FormText{offset, depth}, form.body);
}

LayoutKind kind_of(const Form& form) {
  if (const auto* nest = std::get_if<NestBody>(&form.body))
    return nest->loops.empty() ? LayoutKind::contiguous : LayoutKind::strided;
  return std::holds_alternative<TableBody>(form.body) ? LayoutKind::table : LayoutKind::sequence;
}

}  // namespace

std::string_view name(LayoutKind kind) {
  switch (kind) {
    case LayoutKind::empty:
      return "empty";
    case LayoutKind::contiguous:
      return "contiguous";
    case LayoutKind::strided:
      return "strided";
    case LayoutKind::table:
      return "table";
    case LayoutKind::sequence:
      return "sequence";
  }
  return "unknown";
}

std::shared_ptr<const Layout::Program> make_program(PlacedForm root) {
  Layout::Program program;
  program.alignment = static_cast<std::int64_t>(largest_alignment);
  if (!root.form) {
    program.hash = hash_of(root);
    return std::make_shared<const Layout::Program>(std::move(program));
  }
  program.kind = kind_of(*root.form);
  program.bytes = root.form->bytes;
  program.lowest = checked_add(root.offset, root.form->lowest, bound_of_layout);
  program.highest = checked_add(root.offset, root.form->highest, bound_of_layout);
  const std::uint64_t bits = root.form->bits | static_cast<std::uint64_t>(root.offset) | largest_alignment;
  program.alignment = static_cast<std::int64_t>(bits & (~bits + 1));
  if (const auto* nest = std::get_if<NestBody>(&root.form->body))
    program.nest = {root.offset, nest->block, nest->loops};
  if (const auto* table = std::get_if<TableBody>(&root.form->body); table != nullptr && root.offset != 0) {
    std::vector<std::int64_t> offsets = table->offsets;
    for (std::int64_t& offset : offsets) offset += root.offset;
    root = {0, make_table(std::move(offsets), table->lengths)};
  }
  program.hash = hash_of(root);
  program.root = std::move(root);
  return std::make_shared<const Layout::Program>(std::move(program));
}

Layout Layout::of(const Datatype& type, std::int64_t count) {
  if (count < 0)
    throw Error(Code::invalid_argument, fmt::format("layout: count is {}, must not be negative", count));
  return Layout(make_program(lower(type, count)));
}

Layout Layout::contiguous(std::int64_t bytes) {
  if (bytes < 0)
    throw Error(Code::invalid_argument, fmt::format("layout: {} bytes, must not be negative", bytes));
  return Layout(make_program(bytes == 0 ? PlacedForm{} : PlacedForm{0, make_nest(bytes, {})}));
}

LayoutKind Layout::kind() const noexcept {
  return program_->kind;
}
std::int64_t Layout::bytes() const noexcept {
  return program_->bytes;
}
std::int64_t Layout::segment_count() const noexcept {
  return program_->root.form ? program_->root.form->segments : 0;
}
std::int64_t Layout::lowest() const noexcept {
  return program_->lowest;
}
std::int64_t Layout::highest() const noexcept {
  return program_->highest;
}
std::int64_t Layout::alignment() const noexcept {
  return program_->alignment;
}
std::int64_t Layout::uniform_block() const noexcept {
  return program_->root.form ? program_->root.form->uniform_block : 0;
}
LayoutHash Layout::hash() const noexcept {
  return program_->hash;
}

const StridedNest* Layout::nest() const noexcept {
  const bool nested = program_->kind == LayoutKind::contiguous || program_->kind == LayoutKind::strided;
  return nested ? &program_->nest : nullptr;
}

std::optional<SegmentTable> Layout::table() const noexcept {
  if (program_->kind != LayoutKind::table) return std::nullopt;
  const auto& table = std::get<TableBody>(program_->root.form->body);
  return SegmentTable{table.offsets, table.lengths, table.prefix};
}

std::string Layout::text() const {
  return program_->root.form ? text_of(*program_->root.form, program_->root.offset, 0) : "empty";
}

}  // namespace lath
