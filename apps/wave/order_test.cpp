#include "apps/wave/order_test.hpp"

#include <cmath>

#include "apps/wave/run.hpp"

namespace lath::wave {

Problem manufactured_problem(std::int64_t points) {
  Problem problem;
  problem.title = "manufactured solution";
  problem.mode = Problem::Mode::manufactured;
  problem.points = {points, points, points};
  problem.spacing = 1.0 / static_cast<double>(points - 1);
  set_time(problem, 0.5, 1.2);
  return problem;
}

std::vector<Resolution> measure_order(const std::vector<std::int64_t>& points, const Options& options,
                                      Ranks& ranks) {
  std::vector<Resolution> resolutions;
  for (std::int64_t number : points) {
    const Problem problem = manufactured_problem(number);
    const Outcome outcome = compute(problem, options, ranks);
    Resolution resolution{number, problem.steps, outcome.error, 0.0, outcome.checksum};
    if (!resolutions.empty()) {
      const Resolution& coarser = resolutions.back();
      resolution.order = std::log(coarser.error / outcome.error) /
                         std::log(static_cast<double>(number - 1) / static_cast<double>(coarser.points - 1));
    }
    resolutions.push_back(resolution);
  }
  return resolutions;
}

}  // namespace lath::wave
