#include "datatypes/layout_builder.hpp"

#include <utility>

#include "datatypes/checked.hpp"

namespace lath {
namespace {

/// A run of blocks shorter than this stays in a table when it has neighbours.
constexpr std::int64_t shortest_run = 16;
/// A form of no more blocks than this is written out when it becomes part of another.
constexpr std::int64_t written_out = 8;
constexpr const char* bound_of_layout = "a layout's bound";

}  // namespace

void LayoutBuilder::append(const LayoutSegment& block) {
  if (pending_.length > 0 && end_of(pending_) == block.offset) {
    pending_.length = checked_add(pending_.length, block.length, "a block's length");
    static_cast<void>(checked_add(pending_.offset, pending_.length, bound_of_layout));
    return;
  }
  if (pending_.length > 0) {
    commit(pending_);
  } else if (open_tail(block.offset)) {
    append(block);
    return;
  }
  static_cast<void>(checked_add(block.offset, block.length, bound_of_layout));
  pending_ = block;
}

void LayoutBuilder::append(const PlacedForm& part) {
  if (!part.form) return;
  const auto* nest = std::get_if<NestBody>(&part.form->body);
  if (nest != nullptr && nest->loops.empty()) return append(LayoutSegment{part.offset, nest->block});
  static_cast<void>(checked_add(part.offset, part.form->lowest, bound_of_layout));
  static_cast<void>(checked_add(part.offset, part.form->highest, bound_of_layout));
  if (nest != nullptr && nest->loops.size() == 1) return append_nest(part.form, part.offset, nest->loops[0]);
  const LayoutSegment first = moved(part.form->first, part.offset);
  const bool joins = pending_.length > 0 ? end_of(pending_) == first.offset : open_tail(first.offset);
  if (joins || part.form->segments <= written_out) return append(splits_.of(part.form), part.offset);
  close_blocks();
  commit(part.form, part.offset);
}

void LayoutBuilder::append(const Split& parts, std::int64_t offset) {
  append(moved(parts.first, offset));
  append(PlacedForm{offset + parts.middle.offset, parts.middle.form});
  append(moved(parts.last, offset));
}

/// Goes exactly as its blocks one by one would, in constant time.
void LayoutBuilder::append_nest(const FormPtr& form, std::int64_t offset, const Loop& loop) {
  const std::int64_t block = form->first.length;
  append(LayoutSegment{offset, block});
  append(LayoutSegment{offset + loop.stride, block});
  if (loop.count == 2) return;
  append(LayoutSegment{offset + 2 * loop.stride, block});
  // Now the run ends with the second block, at this stride or, where it was given up, alone; the third is
  // pending.
  if (loop.count == 3) return;
  commit(pending_);
  block_run_.count += loop.count - 4;
  pending_ = {offset + (loop.count - 1) * loop.stride, block};
}

/// Where the last form ends at next_offset: takes it apart, so that its last block is pending.
bool LayoutBuilder::open_tail(std::int64_t next_offset) {
  if (pending_.length > 0 || form_run_.count == 0) return false;
  const FormPtr form = form_run_.form;
  const std::int64_t offset = form_run_.last();
  if (end_of(form->last) + offset != next_offset) return false;
  --form_run_.count;
  append(splits_.of(form), offset);
  return true;
}

void LayoutBuilder::commit(const LayoutSegment& block) {
  Run& run = block_run_;
  if (run.count > 0 && run.block.length == block.length) {
    if (run.count == 1) run.stride = checked_subtract(block.offset, run.offset, bound_of_layout);
    std::int64_t next = 0;
    if (!__builtin_add_overflow(run.last(), run.stride, &next) && next == block.offset) {
      ++run.count;
      return;
    }
    if (run.count < shortest_run) {
      // The last block may rather begin the next run.
      const std::int64_t last = run.last();
      --run.count;
      close_block_run();
      run = {block, nullptr, last, 2, checked_subtract(block.offset, last, bound_of_layout)};
      return;
    }
  }
  close_block_run();
  run = {block, nullptr, block.offset, 1, 0};
}

void LayoutBuilder::keep_loose(std::int64_t offset, std::int64_t length) {
  loose_offsets_.push_back(offset);
  loose_lengths_.push_back(length);
}

void LayoutBuilder::close_block_run() {
  const Run run = std::exchange(block_run_, {});
  if (run.count < shortest_run) {
    for (std::int64_t i = 0; i < run.count; ++i) keep_loose(run.offset + i * run.stride, run.block.length);
    return;
  }
  close_loose();
  commit(make_nest(run.block.length, {{run.count, run.stride}}), run.offset);
}

/// All blocks into a form; one that is a single run into a nest however short.
void LayoutBuilder::close_blocks() {
  if (pending_.length > 0) commit(std::exchange(pending_, {}));
  if (loose_offsets_.empty() && block_run_.count > 1) {
    const Run run = std::exchange(block_run_, {});
    commit(make_nest(run.block.length, {{run.count, run.stride}}), run.offset);
    return;
  }
  close_block_run();
  close_loose();
}

void LayoutBuilder::close_loose() {
  if (loose_offsets_.empty()) return;
  std::vector<std::int64_t> offsets = std::exchange(loose_offsets_, {});
  std::vector<std::int64_t> lengths = std::exchange(loose_lengths_, {});
  const std::int64_t first = offsets.front();
  if (offsets.size() == 1) return commit(make_nest(lengths.front(), {}), first);
  for (std::int64_t& offset : offsets) offset = checked_subtract(offset, first, bound_of_layout);
  commit(make_table(std::move(offsets), std::move(lengths)), first);
}

void LayoutBuilder::commit(const FormPtr& form, std::int64_t offset) {
  Run& run = form_run_;
  if (run.count > 0 && run.form->hash == form->hash) {
    if (run.count == 1) run.stride = checked_subtract(offset, run.offset, bound_of_layout);
    std::int64_t next = 0;
    if (!__builtin_add_overflow(run.last(), run.stride, &next) && next == offset) {
      ++run.count;
      return;
    }
    if (run.count == 2) {
      const std::int64_t last = run.last();
      --run.count;
      close_form_run();
      run = {{}, form, last, 2, checked_subtract(offset, last, bound_of_layout)};
      return;
    }
  }
  close_form_run();
  run = {{}, form, offset, 1, 0};
}

void LayoutBuilder::close_form_run() {
  const Run run = std::exchange(form_run_, {});
  if (run.count == 0) return;
  const PlacedForm part = repeat(splits_, {run.offset, run.form}, run.count, run.stride);
  offsets_.push_back(part.offset);
  forms_.push_back(part.form);
}

PlacedForm LayoutBuilder::finish() {
  close_blocks();
  close_form_run();
  if (forms_.empty()) return {};
  const std::int64_t first = offsets_.front();
  if (forms_.size() == 1) return {first, std::move(forms_.front())};
  for (std::int64_t& offset : offsets_) offset = checked_subtract(offset, first, bound_of_layout);
  return {first, make_sequence(std::move(offsets_), std::move(forms_))};
}

}  // namespace lath
