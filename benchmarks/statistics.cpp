#include "benchmarks/statistics.hpp"

#include <algorithm>

namespace lath::benchmarks {
namespace {

double at(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Quartiles quartiles(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {.median = at(samples, 0.5),
          .q1 = at(samples, 0.25),
          .q3 = at(samples, 0.75),
          .samples = samples.size()};
}

}  // namespace lath::benchmarks
