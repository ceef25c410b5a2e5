// Loops over forms, and taking the first and last block off a form.
#include "datatypes/checked.hpp"
#include "datatypes/layout_builder.hpp"

namespace lath {
namespace {

constexpr const char* bound_of_layout = "a layout's bound";
/// A table or sequence that a loop makes into no more blocks than this is written out.
constexpr std::int64_t written_out = 8;

/// Whether `loop` goes on where `outer` iterations of it, `stride` apart, begin again: both are one loop.
bool continues(const Loop& loop, std::int64_t stride) {
  std::int64_t end = 0;
  return !__builtin_mul_overflow(loop.count, loop.stride, &end) && end == stride;
}

/// A loop whose iterations meet end to start: the last block of one and the first of the next are one block.
/// first, (count - 1) x (middle, last + first), middle, last.
PlacedForm rotate(SplitCache& splits, const FormPtr& form, std::int64_t count, std::int64_t stride) {
  const Split parts = splits.of(form);
  LayoutBuilder joined(splits);
  joined.append(parts.middle);
  joined.append(LayoutSegment{parts.last.offset, parts.last.length + parts.first.length});
  const std::int64_t last = checked_multiply(count - 1, stride, bound_of_layout);
  LayoutBuilder whole(splits);
  whole.append(parts.first);
  whole.append(repeat(splits, joined.finish(), count - 1, stride));
  whole.append(PlacedForm{checked_add(parts.middle.offset, last, bound_of_layout), parts.middle.form});
  whole.append(moved(parts.last, last));
  return whole.finish();
}

FormPtr loop_over(SplitCache& splits, const FormPtr& form, std::int64_t count, std::int64_t stride) {
  if (const auto* nest = std::get_if<NestBody>(&form->body)) {
    std::vector<Loop> loops = nest->loops;
    if (!loops.empty() && continues(loops[0], stride))
      loops[0].count = checked_multiply(loops[0].count, count, "a layout's loop");
    else
      loops.insert(loops.begin(), {count, stride});
    return make_nest(nest->block, std::move(loops));
  }
  if (const auto* inner = std::get_if<RepeatBody>(&form->body);
      inner != nullptr && continues({inner->count, inner->stride}, stride))
    return make_repeat(checked_multiply(inner->count, count, "a layout's loop"), inner->stride, inner->inner);
  if (count <= written_out / form->segments) {
    LayoutBuilder builder(splits);
    for (std::int64_t i = 0; i < count; ++i) builder.append(splits.of(form), i * stride);
    return builder.finish().form;
  }
  return make_repeat(count, stride, form);
}

class Splitter {
 public:
  Splitter(SplitCache& splits, const FormPtr& form) : splits_(splits), form_(form), builder_(splits) {}

  Split split() {
    std::visit([this](const auto& body) { take(body); }, form_->body);
    return {form_->first, builder_.finish(), form_->last};
  }

 private:
  void take(const NestBody& nest) {
    const FormPtr inner = make_nest(nest.block, {nest.loops.begin() + 1, nest.loops.end()});
    loop(nest.loops[0].count, nest.loops[0].stride, inner);
  }

  void take(const RepeatBody& repeated) { loop(repeated.count, repeated.stride, repeated.inner); }

  void take(const TableBody& table) {
    for (std::size_t i = 1; i + 1 < table.offsets.size(); ++i)
      builder_.append(LayoutSegment{table.offsets[i], table.lengths[i]});
  }

  void take(const SequenceBody& sequence) {
    const std::size_t last = sequence.forms.size() - 1;
    without_first(sequence.forms[0], sequence.offsets[0]);
    for (std::size_t i = 1; i < last; ++i)
      builder_.append(PlacedForm{sequence.offsets[i], sequence.forms[i]});
    without_last(sequence.forms[last], sequence.offsets[last]);
  }

  void loop(std::int64_t count, std::int64_t stride, const FormPtr& inner) {
    without_first(inner, 0);
    const PlacedForm between = repeat(splits_, {0, inner}, count - 2, stride);
    builder_.append(PlacedForm{between.offset + stride, between.form});
    without_last(inner, (count - 1) * stride);
  }

  void without_first(const FormPtr& form, std::int64_t offset) {
    if (form->segments == 1) return;
    const Split& parts = splits_.of(form);
    builder_.append(PlacedForm{parts.middle.offset + offset, parts.middle.form});
    builder_.append(moved(parts.last, offset));
  }

  void without_last(const FormPtr& form, std::int64_t offset) {
    if (form->segments == 1) return;
    const Split& parts = splits_.of(form);
    builder_.append(moved(parts.first, offset));
    builder_.append(PlacedForm{parts.middle.offset + offset, parts.middle.form});
  }

  SplitCache& splits_;
  const FormPtr& form_;
  LayoutBuilder builder_;
};

}  // namespace

const Split& SplitCache::of(const FormPtr& form) {
  const auto found = entries_.find(form.get());
  if (found != entries_.end()) return found->second.split;
  Split split = Splitter(*this, form).split();
  return entries_.emplace(form.get(), Entry{form, std::move(split)}).first->second.split;
}

PlacedForm repeat(SplitCache& splits, const PlacedForm& part, std::int64_t count, std::int64_t stride) {
  if (count == 0 || !part.form) return {};
  if (count == 1) return part;
  const bool meets = end_of(part.form->last) == stride;
  if (meets && part.form->segments == 1)
    return {part.offset, make_nest(checked_multiply(count, stride, "a layout's size"), {})};
  if (!meets) return {part.offset, loop_over(splits, part.form, count, stride)};
  const PlacedForm whole = rotate(splits, part.form, count, stride);
  return {checked_add(part.offset, whole.offset, bound_of_layout), whole.form};
}

}  // namespace lath
