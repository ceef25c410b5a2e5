#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datatypes/layout.hpp"

namespace lath {

/// A place in a layout's packed bytes, that walks segments forwards. Seeking costs O(depth + log n), a step
/// O(1) within an innermost loop or a table, and a seek at its end; nothing allocates. The layout must
/// outlive the cursor.
class Cursor {
 public:
  explicit Cursor(const Layout& layout, std::int64_t packed_offset = 0) noexcept;

  /// 0 <= packed_offset <= layout.bytes().
  void seek(std::int64_t packed_offset) noexcept;
  [[nodiscard]] std::int64_t position() const noexcept { return position_; }
  [[nodiscard]] bool at_end() const noexcept { return position_ >= bytes_; }
  /// The rest of the merged segment at the position, cut to `limit` bytes (at least 1), and moves past it.
  /// Not at the end.
  LayoutSegment next(std::int64_t limit = INT64_MAX) noexcept;

 private:
  void next_block() noexcept;

  const Layout::Program* program_;
  std::int64_t bytes_;
  std::int64_t position_ = 0;
  /// The block at the position, and how much of it is passed.
  LayoutSegment block_;
  std::int64_t passed_ = 0;
  /// The blocks that follow it at once: `left_` of them, `stride_` apart or out of a table.
  std::int64_t left_ = 0;
  std::int64_t stride_ = 0;
  const std::int64_t* table_offsets_ = nullptr;
  const std::int64_t* table_lengths_ = nullptr;
  std::int64_t table_base_ = 0;
};

struct SegmentList {
  std::size_t count = 0;   ///< entries filled
  std::int64_t bytes = 0;  ///< packed bytes they cover, from the range's begin
};

/// Fills `out` with the merged segments of a packed range, in packed order, until the range or `out` ends.
SegmentList list_segments(const Layout& layout, PackedRange range, std::span<LayoutSegment> out) noexcept;

/// Copies the packed bytes [range.begin, range.end) of the buffer `base` to `packed` (range.bytes() long), or
/// back. Any range, also one that ends inside a basic element. Host-accessible memory only. Ranges of one
/// layout may be packed by several threads at once.
void pack(const Layout& layout, const void* base, PackedRange range, void* packed) noexcept;
void unpack(const Layout& layout, void* base, PackedRange range, const void* packed) noexcept;

}  // namespace lath
