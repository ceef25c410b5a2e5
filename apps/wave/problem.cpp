#include "apps/wave/problem.hpp"

#include <algorithm>
#include <cmath>

#include "apps/wave/manufactured.hpp"

namespace lath::wave {

std::array<std::int64_t, 3> Problem::nearest_point(const Position& position) const {
  std::array<std::int64_t, 3> point{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double offset = d == 2 ? position[d] - first_depth() : position[d];
    point[d] =
        std::clamp(static_cast<std::int64_t>(std::llround(offset / spacing)), std::int64_t{0}, points[d] - 1);
  }
  return point;
}

double time_scale_speed(const Problem& problem) {
  if (problem.mode == Problem::Mode::manufactured) return manufactured::fastest_speed();
  double fastest = problem.top == Problem::Top::free ? 1.5 * problem.layers.front().vp : 0.0;
  for (const Layer& layer : problem.layers) {
    fastest = std::max(fastest, std::sqrt(layer.vp * layer.vp + 2.0 * layer.vs * layer.vs));
  }
  return fastest;
}

void set_time(Problem& problem, double end, double cfl) {
  const double longest = cfl * problem.spacing / time_scale_speed(problem);
  problem.steps = std::max(std::int64_t{1}, static_cast<std::int64_t>(std::ceil(end / longest)));
  problem.time_step = end / static_cast<double>(problem.steps);
}

}  // namespace lath::wave
