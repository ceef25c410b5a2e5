#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace lath {

/// The basic types, under MPI's names in lower case without MPI_. The pair types have holes that are not
/// data.
enum class Basic : std::uint8_t {
  byte_,
  char_,
  short_,
  int_,
  unsigned_,
  long_,
  long_long,
  float_,
  double_,
  long_double,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  c_bool,
  c_float_complex,
  c_double_complex,
  float_int,
  double_int,
  long_int,
  short_int,
  two_int,
};
inline constexpr std::size_t basic_count = 26;

/// The type-spec name: "byte", "int8_t", "c_bool", "2int" ...
std::string_view name(Basic basic);

enum class Combiner : std::uint8_t {
  named,
  contiguous,
  vector,
  hvector,
  indexed,
  hindexed,
  indexed_block,
  hindexed_block,
  struct_,
  subarray,
  darray,
  resized,
  dup,
};

enum class Order : std::uint8_t { c, fortran };
enum class Distribution : std::uint8_t { block, cyclic, none };
/// darray's default distribution argument (MPI_DISTRIBUTE_DFLT_DARG).
inline constexpr std::int64_t default_distribution = -1;

/// An MPI derived datatype (MPI-4.1 chapter 5) as an immutable value: a shared tree of constructor nodes.
/// Counts, block lengths, displacements and strides are 64-bit. Displacements and strides are in extents of
/// the inner type unless the constructor's name begins with h (bytes) or is struct_ (bytes); block lengths
/// are in elements of the inner type. Constructors throw Error(invalid_argument), naming the argument and its
/// value, for a negative count, lists of unequal length, an invalid subarray or darray, or a size or bound
/// that leaves 64 bits. Zero counts and lengths are legal. Copying is cheap; const access is thread safe.
class Datatype {
 public:
  struct Node;

  static Datatype basic(Basic basic);
  static Datatype contiguous(std::int64_t count, const Datatype& inner);
  static Datatype vector(std::int64_t count, std::int64_t block_length, std::int64_t stride,
                         const Datatype& inner);
  static Datatype hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                          const Datatype& inner);
  static Datatype indexed(std::span<const std::int64_t> block_lengths,
                          std::span<const std::int64_t> displacements, const Datatype& inner);
  static Datatype hindexed(std::span<const std::int64_t> block_lengths,
                           std::span<const std::int64_t> displacements_bytes, const Datatype& inner);
  static Datatype indexed_block(std::int64_t block_length, std::span<const std::int64_t> displacements,
                                const Datatype& inner);
  static Datatype hindexed_block(std::int64_t block_length, std::span<const std::int64_t> displacements_bytes,
                                 const Datatype& inner);
  /// The extent is rounded up to the strictest alignment of the members' basic types, unless a member was
  /// resized.
  static Datatype struct_(std::span<const std::int64_t> block_lengths,
                          std::span<const std::int64_t> displacements_bytes,
                          std::span<const Datatype> members);
  static Datatype subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                           std::span<const std::int64_t> starts, Order order, const Datatype& inner);
  static Datatype darray(std::int64_t size, std::int64_t rank, std::span<const std::int64_t> gsizes,
                         std::span<const Distribution> distributions, std::span<const std::int64_t> arguments,
                         std::span<const std::int64_t> psizes, Order order, const Datatype& inner);
  static Datatype resized(std::int64_t lower_bound, std::int64_t extent, const Datatype& inner);
  static Datatype dup(const Datatype& inner);

  /// Bytes of data in one element (holes not counted).
  [[nodiscard]] std::int64_t size() const noexcept;
  [[nodiscard]] std::int64_t lower_bound() const noexcept;
  [[nodiscard]] std::int64_t upper_bound() const noexcept;
  [[nodiscard]] std::int64_t extent() const noexcept;
  /// Bounds of the bytes that hold data; both 0 for a type without data.
  [[nodiscard]] std::int64_t true_lower_bound() const noexcept;
  [[nodiscard]] std::int64_t true_extent() const noexcept;
  /// Strictest alignment, in bytes, of the basic types inside (1 where there are none).
  [[nodiscard]] std::int64_t alignment() const noexcept;
  [[nodiscard]] Combiner combiner() const noexcept;

  [[nodiscard]] const Node& node() const noexcept { return *node_; }
  explicit Datatype(std::shared_ptr<const Node> node) noexcept : node_(std::move(node)) {}

 private:
  std::shared_ptr<const Node> node_;
};

}  // namespace lath
