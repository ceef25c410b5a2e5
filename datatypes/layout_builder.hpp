#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "datatypes/form.hpp"

namespace lath {

/// A form of at least two blocks without its first and its last: {first, middle, last} is the same walk.
struct Split {
  LayoutSegment first;
  PlacedForm middle;  ///< no form where there are just two blocks
  LayoutSegment last;
};

/// Splits by form, so that a form that is joined to its neighbours in many places is taken apart once.
class SplitCache {
 public:
  const Split& of(const FormPtr& form);

 private:
  struct Entry {
    FormPtr form;  // keeps the key alive
    Split split;
  };
  std::unordered_map<const Form*, Entry> entries_;
};

/// Builds a canonical form from pieces in packed order. Blocks that meet end to start are merged, also across
/// the border of larger forms; equally spaced equal blocks, and equally spaced equal forms, become loops.
class LayoutBuilder {
 public:
  explicit LayoutBuilder(SplitCache& splits) : splits_(splits) {}

  void append(const LayoutSegment& block);
  void append(const PlacedForm& part);
  void append(const Split& parts, std::int64_t offset);
  /// What has been appended. The builder is spent.
  PlacedForm finish();

 private:
  /// Equal pieces, `stride` apart; blocks (no form) or forms.
  struct Run {
    LayoutSegment block;
    FormPtr form;
    std::int64_t offset = 0;
    std::int64_t count = 0;
    std::int64_t stride = 0;
    [[nodiscard]] std::int64_t last() const { return offset + (count - 1) * stride; }
  };

  void append_nest(const FormPtr& form, std::int64_t offset, const Loop& loop);
  bool open_tail(std::int64_t next_offset);
  void commit(const LayoutSegment& block);
  void keep_loose(std::int64_t offset, std::int64_t length);
  void close_block_run();
  void close_blocks();
  void close_loose();
  void commit(const FormPtr& form, std::int64_t offset);
  void close_form_run();

  SplitCache& splits_;
  std::vector<std::int64_t> offsets_;  ///< finished parts
  std::vector<FormPtr> forms_;
  Run form_run_;                             ///< after them
  std::vector<std::int64_t> loose_offsets_;  ///< after it: blocks that are in no run
  std::vector<std::int64_t> loose_lengths_;
  Run block_run_;            ///< after them
  LayoutSegment pending_{};  ///< after it: the last block, that may still grow (length 0: none)
};

/// `count` copies of `part`, `stride` bytes apart, in canonical form.
PlacedForm repeat(SplitCache& splits, const PlacedForm& part, std::int64_t count, std::int64_t stride);

}  // namespace lath
