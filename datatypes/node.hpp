#pragma once

#include <cstdint>
#include <vector>

#include "datatypes/datatype.hpp"
#include "datatypes/element_sequence.hpp"
#include "datatypes/layout.hpp"

namespace lath {

/// Where a type's typemap lies. A type without data and without marker has no bounds of its own: `bounded` is
/// false and all are 0.
struct Bounds {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t true_lower = 0;
  std::int64_t true_upper = 0;
  bool bounded = false;  ///< has data or a marker
  bool marked = false;   ///< lower and upper were set by a resized type inside (MPI's lb and ub markers)
  bool data = false;     ///< has data
};

/// Bounds of `count` copies, `stride` bytes apart, from `displacement` on.
Bounds repeat(const Bounds& bounds, std::int64_t count, std::int64_t stride, std::int64_t displacement);
/// Widens `bounds` by those of a further part of the same type: markers win over data.
void widen(Bounds& bounds, const Bounds& part);

/// One constructor call. Lists keep the caller's values (for text); what the constructor means is in the
/// common fields: displacements and strides are kept as given, `displacement_unit` turns them into bytes.
struct Datatype::Node {
  Combiner combiner = Combiner::named;
  Basic basic = Basic::byte_;

  std::int64_t count = 0;         ///< contiguous, vector, hvector
  std::int64_t block_length = 0;  ///< vector, hvector, indexed_block, hindexed_block
  std::int64_t stride = 0;        ///< vector, hvector
  std::int64_t displacement_unit = 1;
  std::vector<std::int64_t> block_lengths;
  std::vector<std::int64_t> displacements;

  std::vector<std::int64_t> sizes;     ///< subarray, darray (gsizes)
  std::vector<std::int64_t> subsizes;  ///< subarray
  std::vector<std::int64_t> starts;    ///< subarray
  std::vector<Distribution> distributions;
  std::vector<std::int64_t> arguments;  ///< darray
  std::vector<std::int64_t> psizes;     ///< darray
  std::int64_t processes = 0;           ///< darray
  std::int64_t rank = 0;                ///< darray
  Order order = Order::c;

  /// The type constructed from; one a member for struct, none for named.
  std::vector<Datatype> inner;
  /// subarray and darray: the same typemap by simpler constructors.
  std::vector<Datatype> lowered;

  std::int64_t size = 0;
  Bounds bounds;
  std::int64_t alignment = 1;
  ElementSequence sequence;  ///< the type signature
  LayoutHash digest;         ///< of the constructor calls: equal for types of the same text
  int depth = 0;             ///< constructors from here to the deepest basic type

  [[nodiscard]] std::int64_t extent() const noexcept { return bounds.upper - bounds.lower; }
  /// Of list number i, in bytes and elements.
  [[nodiscard]] std::int64_t displacement(std::size_t i) const noexcept {
    return displacements[i] * displacement_unit;
  }
  [[nodiscard]] std::int64_t length(std::size_t i) const noexcept {
    return block_lengths.empty() ? block_length : block_lengths[i];
  }
};

/// Constructors may be nested this deep; more is refused, since types are walked recursively.
inline constexpr int deepest_type = 512;

Datatype lower_subarray(const Datatype::Node& node, const Datatype& inner);
Datatype lower_darray(const Datatype::Node& node, const Datatype& inner);

}  // namespace lath
