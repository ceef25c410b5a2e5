#include "datatypes/cursor.hpp"

#include <algorithm>

#include "datatypes/program.hpp"

namespace lath {
namespace {

/// The place of a packed offset: a block, how far into it, and the run of blocks it begins.
struct Place {
  LayoutSegment block;
  std::int64_t passed = 0;
  std::int64_t left = 0;
  std::int64_t stride = 0;
  const TableBody* table = nullptr;
  std::size_t index = 0;
  std::int64_t base = 0;
};

std::size_t entry_at(const std::vector<std::int64_t>& prefix, std::int64_t packed) {
  return static_cast<std::size_t>(std::upper_bound(prefix.begin(), prefix.end(), packed) - prefix.begin()) -
         1;
}

Place in_nest(const NestBody& nest, std::int64_t offset, std::int64_t packed) {
  Place place;
  std::int64_t index = packed / nest.block;
  place.passed = packed - index * nest.block;
  for (std::size_t i = nest.loops.size(); i-- > 0;) {
    const Loop& loop = nest.loops[i];
    const std::int64_t turn = i == 0 ? index : index % loop.count;
    index /= loop.count;
    offset += turn * loop.stride;
    if (i + 1 == nest.loops.size()) {
      place.left = loop.count - turn - 1;
      place.stride = loop.stride;
    }
  }
  place.block = {offset, nest.block};
  return place;
}

Place in_table(const TableBody& table, std::int64_t offset, std::int64_t packed) {
  Place place;
  place.index = entry_at(table.prefix, packed);
  place.passed = packed - table.prefix[place.index];
  place.block = {offset + table.offsets[place.index], table.lengths[place.index]};
  place.left = static_cast<std::int64_t>(table.offsets.size() - place.index) - 1;
  place.table = &table;
  place.base = offset;
  return place;
}

Place find(const Form* form, std::int64_t offset, std::int64_t packed) {
  for (;;) {
    if (const auto* nest = std::get_if<NestBody>(&form->body)) return in_nest(*nest, offset, packed);
    if (const auto* table = std::get_if<TableBody>(&form->body)) return in_table(*table, offset, packed);
    if (const auto* repeat = std::get_if<RepeatBody>(&form->body)) {
      const std::int64_t turn = packed / repeat->inner->bytes;
      packed -= turn * repeat->inner->bytes;
      offset += turn * repeat->stride;
      form = repeat->inner.get();
      continue;
    }
    const auto& sequence = *std::get_if<SequenceBody>(&form->body);
    const std::size_t i = entry_at(sequence.prefix, packed);
    packed -= sequence.prefix[i];
    offset += sequence.offsets[i];
    form = sequence.forms[i].get();
  }
}

}  // namespace

Cursor::Cursor(const Layout& layout, std::int64_t packed_offset) noexcept
    : program_(&layout.program()), bytes_(layout.bytes()) {
  seek(packed_offset);
}

void Cursor::seek(std::int64_t packed_offset) noexcept {
  position_ = packed_offset;
  if (at_end()) return;
  const Place place = find(program_->root.form.get(), program_->root.offset, packed_offset);
  block_ = place.block;
  passed_ = place.passed;
  left_ = place.left;
  stride_ = place.stride;
  table_offsets_ = place.table == nullptr ? nullptr : place.table->offsets.data() + place.index;
  table_lengths_ = place.table == nullptr ? nullptr : place.table->lengths.data() + place.index;
  table_base_ = place.base;
}

void Cursor::next_block() noexcept {
  if (left_ == 0) return seek(position_);
  --left_;
  passed_ = 0;
  if (table_offsets_ == nullptr) {
    block_.offset += stride_;
    return;
  }
  block_ = {table_base_ + *++table_offsets_, *++table_lengths_};
}

LayoutSegment Cursor::next(std::int64_t limit) noexcept {
  const std::int64_t length = std::min(block_.length - passed_, limit);
  const LayoutSegment segment{block_.offset + passed_, length};
  passed_ += length;
  position_ += length;
  if (passed_ == block_.length) next_block();
  return segment;
}

SegmentList list_segments(const Layout& layout, PackedRange range, std::span<LayoutSegment> out) noexcept {
  SegmentList list;
  const std::int64_t end = std::min(range.end, layout.bytes());
  Cursor cursor(layout, range.begin);
  while (cursor.position() < end && list.count < out.size()) {
    const LayoutSegment segment = cursor.next(end - cursor.position());
    out[list.count++] = segment;
    list.bytes += segment.length;
  }
  return list;
}

}  // namespace lath
