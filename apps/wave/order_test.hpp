#pragma once

#include <cstdint>
#include <vector>

#include "apps/wave/options.hpp"
#include "apps/wave/problem.hpp"
#include "apps/wave/ranks.hpp"

namespace lath::wave {

/// The manufactured solution on a cube of unit size with `points` points a side.
[[nodiscard]] Problem manufactured_problem(std::int64_t points);

struct Resolution {
  std::int64_t points = 0;
  std::int64_t steps = 0;
  double error = 0.0;
  double order = 0.0;  ///< observed between the coarser resolution and this one; 0 for the first
  std::uint64_t checksum = 0;
};

/// The observed order must reach this at the finest resolution.
inline constexpr double least_order = 3.7;

/// Computes the manufactured solution at rising resolutions, with the time step in proportion to the spacing.
/// Collective.
[[nodiscard]] std::vector<Resolution> measure_order(const std::vector<std::int64_t>& points,
                                                    const Options& options, Ranks& ranks);

}  // namespace lath::wave
