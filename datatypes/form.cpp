#include "datatypes/form.hpp"

#include <xxhash.h>

#include <algorithm>

#include "datatypes/checked.hpp"

namespace lath {
namespace {

constexpr const char* bytes_of_layout = "a layout's size";
constexpr const char* bound_of_layout = "a layout's bound";

class Hasher {
 public:
  explicit Hasher(std::int64_t kind) : words_{kind} {}
  void add(std::int64_t word) { words_.push_back(word); }
  void add(const LayoutHash& hash) {
    add(static_cast<std::int64_t>(hash.low));
    add(static_cast<std::int64_t>(hash.high));
  }
  void add(const std::vector<std::int64_t>& words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }
  [[nodiscard]] LayoutHash result() const {
    const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(std::int64_t));
    return {hash.low64, hash.high64};
  }

 private:
  std::vector<std::int64_t> words_;
};

/// What `count` iterations, `stride` apart, do to the figures of one.
void widen(Form& form, std::int64_t count, std::int64_t stride) {
  const std::int64_t span = checked_multiply(count - 1, stride, bound_of_layout);
  form.bytes = checked_multiply(form.bytes, count, bytes_of_layout);
  form.segments *= count;  // no more than bytes
  form.lowest = checked_add(form.lowest, std::min<std::int64_t>(span, 0), bound_of_layout);
  form.highest = checked_add(form.highest, std::max<std::int64_t>(span, 0), bound_of_layout);
  form.bits |= static_cast<std::uint64_t>(stride);
  form.last.offset += span;
}

FormPtr share(Form&& form) {
  static_cast<void>(checked_subtract(form.highest, form.lowest, "a layout's extent"));
  if (form.depth > deepest_form) throw Error(Code::invalid_argument, "a layout nested too deeply");
  return std::make_shared<const Form>(std::move(form));
}

}  // namespace

FormPtr make_nest(std::int64_t block, std::vector<Loop> loops) {
  Form form;
  Hasher hasher(0);
  form.bytes = form.highest = form.uniform_block = block;
  form.segments = 1;
  form.bits = static_cast<std::uint64_t>(block);
  form.first = form.last = {0, block};
  hasher.add(block);
  for (const Loop& loop : loops) {
    widen(form, loop.count, loop.stride);
    hasher.add(loop.count);
    hasher.add(loop.stride);
  }
  form.hash = hasher.result();
  form.body = NestBody{block, std::move(loops)};
  return share(std::move(form));
}

FormPtr make_table(std::vector<std::int64_t> offsets, std::vector<std::int64_t> lengths) {
  Form form;
  TableBody table;
  table.prefix.reserve(offsets.size() + 1);
  form.first = {offsets.front(), lengths.front()};
  form.last = {offsets.back(), lengths.back()};
  form.lowest = offsets.front();
  form.highest = checked_add(offsets.front(), lengths.front(), bound_of_layout);
  form.uniform_block = lengths.front();
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    table.prefix.push_back(form.bytes);
    form.bytes = checked_add(form.bytes, lengths[i], bytes_of_layout);
    form.lowest = std::min(form.lowest, offsets[i]);
    form.highest = std::max(form.highest, checked_add(offsets[i], lengths[i], bound_of_layout));
    form.bits |= static_cast<std::uint64_t>(offsets[i]) | static_cast<std::uint64_t>(lengths[i]);
    if (lengths[i] != form.uniform_block) form.uniform_block = 0;
  }
  table.prefix.push_back(form.bytes);
  form.segments = static_cast<std::int64_t>(offsets.size());
  Hasher hasher(1);
  hasher.add(offsets);
  hasher.add(lengths);
  form.hash = hasher.result();
  table.offsets = std::move(offsets);
  table.lengths = std::move(lengths);
  form.body = std::move(table);
  return share(std::move(form));
}

FormPtr make_repeat(std::int64_t count, std::int64_t stride, FormPtr inner) {
  Form form;
  form.bytes = inner->bytes;
  form.segments = inner->segments;
  form.lowest = inner->lowest;
  form.highest = inner->highest;
  form.bits = inner->bits;
  form.uniform_block = inner->uniform_block;
  form.first = inner->first;
  form.last = inner->last;
  form.depth = inner->depth + 1;
  widen(form, count, stride);
  Hasher hasher(2);
  hasher.add(count);
  hasher.add(stride);
  hasher.add(inner->hash);
  form.hash = hasher.result();
  form.body = RepeatBody{count, stride, std::move(inner)};
  return share(std::move(form));
}

FormPtr make_sequence(std::vector<std::int64_t> offsets, std::vector<FormPtr> forms) {
  Form form;
  Hasher hasher(3);
  SequenceBody sequence;
  sequence.prefix.reserve(offsets.size() + 1);
  form.uniform_block = forms.front()->uniform_block;
  form.lowest = INT64_MAX;
  form.highest = INT64_MIN;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Form& part = *forms[i];
    sequence.prefix.push_back(form.bytes);
    form.bytes = checked_add(form.bytes, part.bytes, bytes_of_layout);
    form.segments += part.segments;
    form.lowest = std::min(form.lowest, checked_add(offsets[i], part.lowest, bound_of_layout));
    form.highest = std::max(form.highest, checked_add(offsets[i], part.highest, bound_of_layout));
    form.bits |= static_cast<std::uint64_t>(offsets[i]) | part.bits;
    if (part.uniform_block != form.uniform_block) form.uniform_block = 0;
    form.depth = std::max(form.depth, part.depth + 1);
    hasher.add(offsets[i]);
    hasher.add(part.hash);
  }
  sequence.prefix.push_back(form.bytes);
  form.first = moved(forms.front()->first, offsets.front());
  form.last = moved(forms.back()->last, offsets.back());
  form.hash = hasher.result();
  sequence.offsets = std::move(offsets);
  sequence.forms = std::move(forms);
  form.body = std::move(sequence);
  return share(std::move(form));
}

}  // namespace lath
