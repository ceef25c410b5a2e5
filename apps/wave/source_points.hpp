#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/wave/problem.hpp"

namespace lath::wave {

/// A force density (N/m^3) at one global point of the grid, in one component.
struct SourcePoint {
  std::array<std::int64_t, 3> point{};
  std::int64_t component = 0;
  double density = 0.0;
};

/// Spreads a point source over the 5 x 5 x 5 points around it so that, as a functional, it is exact for
/// polynomials up to degree four. Points outside the grid are left out, values of zero too.
[[nodiscard]] std::vector<SourcePoint> spread(const Problem& problem, const Source& source);

}  // namespace lath::wave
