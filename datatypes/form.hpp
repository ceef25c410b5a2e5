#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "datatypes/layout.hpp"

namespace lath {

struct Form;
using FormPtr = std::shared_ptr<const Form>;

/// A form whose first block lies at `offset`. No form: nothing at all.
struct PlacedForm {
  std::int64_t offset = 0;
  FormPtr form;
};

/// Equal blocks under loops (as StridedNest, from 0 on).
struct NestBody {
  std::int64_t block = 0;
  std::vector<Loop> loops;
};

/// As SegmentTable; at least two blocks.
struct TableBody {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> prefix;
};

/// `inner`, which is no nest, `count` times (at least twice).
struct RepeatBody {
  std::int64_t count = 0;
  std::int64_t stride = 0;
  FormPtr inner;
};

/// Forms one after the other, at least two. prefix as in a table, in bytes.
struct SequenceBody {
  std::vector<std::int64_t> offsets;
  std::vector<FormPtr> forms;
  std::vector<std::int64_t> prefix;
};

/// A node of the canonical tree (forms are shared, so it is a graph without cycles). Offsets count from the
/// first block in packed order, which lies at 0; only a table that is a whole layout keeps offsets from
/// the buffer. Its blocks are maximal: no block ends where the next one begins, neither inside a child nor
/// between children nor between iterations. So the blocks are the merged segments, and counting them is
/// multiplication.
struct Form {
  std::variant<NestBody, TableBody, RepeatBody, SequenceBody> body;

  std::int64_t bytes = 0;
  std::int64_t segments = 0;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  /// Every offset and length or-ed together: its trailing zeros are the alignment.
  std::uint64_t bits = 0;
  std::int64_t uniform_block = 0;  ///< 0 if lengths differ
  LayoutSegment first;
  LayoutSegment last;
  int depth = 1;
  LayoutHash hash;
};

/// Forms may be nested this deep.
inline constexpr int deepest_form = 4096;

/// The makers compute what Form keeps beside its body, with checked arithmetic (Error(invalid_argument)).
/// They trust that the blocks are maximal and, for a table and a sequence, that the first block is at 0.
FormPtr make_nest(std::int64_t block, std::vector<Loop> loops);
FormPtr make_table(std::vector<std::int64_t> offsets, std::vector<std::int64_t> lengths);
FormPtr make_repeat(std::int64_t count, std::int64_t stride, FormPtr inner);
FormPtr make_sequence(std::vector<std::int64_t> offsets, std::vector<FormPtr> forms);

inline std::int64_t end_of(const LayoutSegment& block) {
  return block.offset + block.length;
}
inline LayoutSegment moved(LayoutSegment block, std::int64_t by) {
  return {block.offset + by, block.length};
}

}  // namespace lath
