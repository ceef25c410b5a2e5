#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datatypes/layout.hpp"

namespace lath {

/// A place in a layout's packed bytes, that walks segments forwards. Seeking costs O(depth + log n), a step
/// amortised O(1); neither allocates. The layout must outlive the cursor.
class Cursor {
 public:
  explicit Cursor(const Layout& layout, std::int64_t packed_offset = 0) noexcept;

  void seek(std::int64_t packed_offset) noexcept;
  [[nodiscard]] std::int64_t position() const noexcept;
  [[nodiscard]] bool at_end() const noexcept;
  /// The rest of the merged segment at the position, cut to `limit` bytes, and moves past it. Not at the end.
  LayoutSegment next(std::int64_t limit = INT64_MAX) noexcept;

  static constexpr std::size_t state_bytes = 1024;

 private:
  const Layout* layout_;
  alignas(std::max_align_t) std::byte state_[state_bytes];
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
