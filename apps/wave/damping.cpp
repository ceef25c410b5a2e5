#include "apps/wave/damping.hpp"

#include <algorithm>
#include <cmath>

namespace lath::wave {

double damping_rate(const Problem& problem, std::size_t direction, std::int64_t point) {
  if (problem.mode != Problem::Mode::source || problem.damping_points == 0) return 0.0;
  const std::int64_t width = problem.damping_points;
  const bool low_zone = direction != 2 || problem.top == Problem::Top::damped;
  const std::int64_t from_low = low_zone ? point : width;
  const std::int64_t from_high = problem.points[direction] - 1 - point;
  const std::int64_t depth = width - std::clamp(std::min(from_low, from_high), std::int64_t{0}, width);
  // A wave of speed v that crosses a zone of length L and back loses exp(-(r_mean) L / v) of its
  // amplitude; r_mean is a third of the largest rate of a quadratic profile.
  double fastest = 0.0;
  for (const Layer& layer : problem.layers) fastest = std::max(fastest, layer.vp);
  const double length = static_cast<double>(width) * problem.spacing;
  const double largest = 3.0 * fastest / length * std::log(1.0 / problem.damping_reflection);
  const double relative = static_cast<double>(depth) / static_cast<double>(width);
  return largest * relative * relative;
}

}  // namespace lath::wave
