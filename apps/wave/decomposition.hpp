#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "apps/wave/array_order.hpp"

namespace lath::wave {

/// A range of grid points along one direction.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

enum class Face : std::uint8_t { x_low, x_high, y_low, y_high };
inline constexpr std::array<Face, 4> faces{Face::x_low, Face::x_high, Face::y_low, Face::y_high};
[[nodiscard]] const char* name(Face face);
[[nodiscard]] Face opposite(Face face);

/// One rank's block of the grid. Ranks count along x first; z is not divided.
struct Block {
  std::array<std::int64_t, 2> ranks{1, 1};       ///< along x and y
  std::array<std::int64_t, 2> coordinate{0, 0};  ///< of this rank
  std::array<Range, 3> range;                    ///< global points that the block updates

  [[nodiscard]] Extents extents() const;  ///< ghost points included
  [[nodiscard]] std::optional<int> neighbour(Face face) const;
  /// Whether the block updates a global point.
  [[nodiscard]] bool owns(const std::array<std::int64_t, 3>& point) const;
};

/// Divides a grid among ranks, with the least halo. Throws Error(invalid_argument) where a rank would get
/// fewer points than its neighbours need for ghosts.
[[nodiscard]] Block decompose(const std::array<std::int64_t, 3>& points, int ranks, int rank);

}  // namespace lath::wave
