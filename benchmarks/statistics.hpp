#pragma once

#include <cstddef>
#include <vector>

namespace lath::benchmarks {

/// A sample's median and quartiles, in the sample's own unit; all 0 for an empty one.
struct Quartiles {
  double median = 0.0;
  double q1 = 0.0;
  double q3 = 0.0;
  std::size_t samples = 0;
};

/// Interpolates linearly between the sorted samples next to each quartile.
[[nodiscard]] Quartiles quartiles(std::vector<double> samples);

}  // namespace lath::benchmarks
