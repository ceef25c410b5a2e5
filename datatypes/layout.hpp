#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "datatypes/datatype.hpp"

namespace lath {

/// A half-open range of packed bytes.
struct PackedRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t bytes() const noexcept { return end - begin; }
};

/// One piece of memory of a layout: bytes from the buffer address (may be negative), length in bytes
/// (positive).
struct LayoutSegment {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  friend bool operator==(const LayoutSegment&, const LayoutSegment&) = default;
};

/// 128-bit content hash (XXH3) of a canonical form.
struct LayoutHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const LayoutHash&, const LayoutHash&) = default;
};

/// A loop of a strided nest, outermost first: `count` iterations, `stride` bytes apart (any sign).
struct Loop {
  std::int64_t count = 1;
  std::int64_t stride = 0;
  friend bool operator==(const Loop&, const Loop&) = default;
};

/// Blocks of equal length at offset + the sum over loops of index * stride; the last loop runs fastest. No
/// loops: one block.
struct StridedNest {
  std::int64_t offset = 0;
  std::int64_t block = 0;
  std::vector<Loop> loops;
  friend bool operator==(const StridedNest&, const StridedNest&) = default;
};

/// Blocks in packed order. prefix has one entry more than the others: prefix[i] is the packed offset of block
/// i, the last one the total.
struct SegmentTable {
  std::span<const std::int64_t> offsets;
  std::span<const std::int64_t> lengths;
  std::span<const std::int64_t> prefix;
};

/// What the canonical form is, from the most to the least regular.
enum class LayoutKind : std::uint8_t { empty, contiguous, strided, table, sequence };
std::string_view name(LayoutKind kind);

/// The canonical form of (datatype, count): where the packed bytes lie, in typemap order, independent of how
/// the type was built. Equal memory walks that canonicalise alike have equal hashes. Blocks are merged only
/// where one ends at the next one's start in typemap order; nothing is ever reordered. Immutable, shared;
/// const access is thread safe. Building costs time linear in the type's description, not in its data.
class Layout {
 public:
  struct Program;  // the canonical tree, private to datatypes/

  /// Throws Error(invalid_argument) for a negative count or a total that leaves 64 bits.
  static Layout of(const Datatype& type, std::int64_t count);
  /// `bytes` contiguous bytes at offset 0.
  static Layout contiguous(std::int64_t bytes);

  [[nodiscard]] LayoutKind kind() const noexcept;
  /// Packed bytes.
  [[nodiscard]] std::int64_t bytes() const noexcept;
  /// Merged segments of the whole layout.
  [[nodiscard]] std::int64_t segment_count() const noexcept;
  /// Lowest and one past the highest byte offset that holds data; both 0 if empty.
  [[nodiscard]] std::int64_t lowest() const noexcept;
  [[nodiscard]] std::int64_t highest() const noexcept;
  /// Largest power of two, at most 4096, that divides every segment's offset and length.
  [[nodiscard]] std::int64_t alignment() const noexcept;
  /// Length of each segment if all are equal, else 0.
  [[nodiscard]] std::int64_t uniform_block() const noexcept;
  [[nodiscard]] LayoutHash hash() const noexcept;

  /// The strided nest, where kind() is contiguous or strided; else null.
  [[nodiscard]] const StridedNest* nest() const noexcept;
  /// The table, where kind() is table; else nothing. Views live as long as the layout.
  [[nodiscard]] std::optional<SegmentTable> table() const noexcept;
  /// The canonical form as one line of text, for explain and logs: "strided offset 0 block 16 loops 33075 x
  /// 840".
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const Program& program() const noexcept { return *program_; }
  explicit Layout(std::shared_ptr<const Program> program) noexcept : program_(std::move(program)) {}

 private:
  std::shared_ptr<const Program> program_;
};

}  // namespace lath
