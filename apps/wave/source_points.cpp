#include "apps/wave/source_points.hpp"

namespace lath::wave {
namespace {

/// The five Lagrange polynomials of the nodes -2 to 2, and their derivatives, at `at`.
struct Weights {
  std::array<double, 5> value{};
  std::array<double, 5> derivative{};
};

Weights lagrange(double at) {
  Weights weights;
  for (int m = 0; m < 5; ++m) {
    double value = 1.0;
    double derivative = 0.0;
    for (int n = 0; n < 5; ++n) {
      if (n == m) continue;
      const double distance = m - n;
      derivative = (derivative * (at - (n - 2)) + value) / distance;
      value *= (at - (n - 2)) / distance;
    }
    weights.value[static_cast<std::size_t>(m)] = value;
    weights.derivative[static_cast<std::size_t>(m)] = derivative;
  }
  return weights;
}

constexpr std::array<std::array<std::size_t, 3>, 3> moment_element{{{0, 1, 2}, {1, 3, 4}, {2, 4, 5}}};

}  // namespace

std::vector<SourcePoint> spread(const Problem& problem, const Source& source) {
  const std::array<std::int64_t, 3> centre = problem.nearest_point(source.position);
  const Position grid_position = problem.position(centre);
  std::array<Weights, 3> weights;
  for (std::size_t d = 0; d < 3; ++d) {
    weights[d] = lagrange((source.position[d] - grid_position[d]) / problem.spacing);
  }
  const double cell = problem.spacing * problem.spacing * problem.spacing;
  std::vector<SourcePoint> points;
  for (std::size_t number = 0; number < 125; ++number) {
    const std::array<std::size_t, 3> m{number % 5, number / 5 % 5, number / 25};
    SourcePoint at;
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d) {
      at.point[d] = centre[d] + static_cast<std::int64_t>(m[d]) - 2;
      inside = inside && at.point[d] >= 0 && at.point[d] < problem.points[d];
    }
    if (!inside) continue;
    for (std::size_t i = 0; i < 3; ++i) {
      double sum = source.force[i];
      sum *= weights[0].value[m[0]] * weights[1].value[m[1]] * weights[2].value[m[2]];
      for (std::size_t j = 0; j < 3; ++j) {
        double product = source.moment[moment_element[i][j]] / problem.spacing;
        for (std::size_t d = 0; d < 3; ++d) {
          product *= d == j ? weights[d].derivative[m[d]] : weights[d].value[m[d]];
        }
        sum += product;
      }
      if (sum == 0.0) continue;
      at.component = static_cast<std::int64_t>(i);
      at.density = sum / cell;
      points.push_back(at);
    }
  }
  return points;
}

}  // namespace lath::wave
