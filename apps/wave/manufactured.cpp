#include "apps/wave/manufactured.hpp"

#include <cmath>
#include <numbers>

namespace lath::wave::manufactured {
namespace {

constexpr double frequency = 0.75;

/// amplitude * sin(a x + p) sin(b y + q) sin(c z + r) + constant, with its derivatives.
struct Product {
  double amplitude;
  std::array<double, 3> wave_number;
  std::array<double, 3> phase;
  double constant = 0.0;

  /// The derivative of order `orders[d]` (0, 1 or 2) along each direction d.
  [[nodiscard]] double derivative(const Position& at, std::array<int, 3> orders) const {
    double product = amplitude;
    bool differentiated = false;
    for (std::size_t d = 0; d < 3; ++d) {
      const double argument = wave_number[d] * at[d] + phase[d];
      switch (orders[d]) {
        case 0:
          product *= std::sin(argument);
          break;
        case 1:
          product *= wave_number[d] * std::cos(argument);
          break;
        default:
          product *= -wave_number[d] * wave_number[d] * std::sin(argument);
      }
      differentiated = differentiated || orders[d] != 0;
    }
    return differentiated ? product : product + constant;
  }
  [[nodiscard]] double value(const Position& at) const { return derivative(at, {0, 0, 0}); }
  [[nodiscard]] double first(const Position& at, std::size_t d) const {
    std::array<int, 3> orders{};
    orders[d] = 1;
    return derivative(at, orders);
  }
  [[nodiscard]] double second(const Position& at, std::size_t d, std::size_t e) const {
    std::array<int, 3> orders{};
    ++orders[d];
    ++orders[e];
    return derivative(at, orders);
  }
};

const std::array<Product, 3> displacement{
    Product{1.0, {6.1, 5.3, 4.7}, {0.3, 0.7, 1.1}},
    Product{0.8, {5.1, 6.3, 5.9}, {0.9, 0.2, 0.5}},
    Product{1.2, {4.3, 5.7, 6.5}, {0.1, 1.3, 0.4}},
};
const Product lambda{0.6, {3.1, 2.7, 3.7}, {0.2, 0.5, 0.8}, 2.0};
const Product mu{0.4, {2.9, 3.3, 2.3}, {0.6, 0.1, 0.9}, 1.0};
const Product density{0.3, {2.1, 3.9, 2.8}, {0.4, 0.9, 0.3}, 1.0};

/// Component i of div sigma(shape), by the product rule.
double stress_divergence(const Position& at, std::size_t i) {
  double divergence = 0.0;
  double gradient_of_divergence = 0.0;
  double laplacian = 0.0;
  double mu_terms = 0.0;
  for (std::size_t j = 0; j < 3; ++j) {
    divergence += displacement[j].first(at, j);
    gradient_of_divergence += displacement[j].second(at, j, i);
    laplacian += displacement[i].second(at, j, j);
    mu_terms += mu.first(at, j) * (displacement[i].first(at, j) + displacement[j].first(at, i));
  }
  return lambda.first(at, i) * divergence + (lambda.value(at) + mu.value(at)) * gradient_of_divergence +
         mu.value(at) * laplacian + mu_terms;
}

}  // namespace

TimeFunction time_function() {
  return TimeFunction{TimeFunction::Kind::cosine, frequency, 0.0};
}

Material material(const Position& position) {
  return Material{lambda.value(position), mu.value(position), density.value(position)};
}

Vector3 shape(const Position& position) {
  return Vector3{displacement[0].value(position), displacement[1].value(position),
                 displacement[2].value(position)};
}

Vector3 force(const Position& position) {
  const double rate = 2.0 * std::numbers::pi * frequency;
  const double inertia = -rate * rate * density.value(position);
  const Vector3 u = shape(position);
  return Vector3{inertia * u.x - stress_divergence(position, 0),
                 inertia * u.y - stress_divergence(position, 1),
                 inertia * u.z - stress_divergence(position, 2)};
}

double fastest_speed() {
  const double most_lambda = lambda.constant + lambda.amplitude;
  const double most_mu = mu.constant + mu.amplitude;
  return std::sqrt((most_lambda + 4.0 * most_mu) / (density.constant - density.amplitude));
}

}  // namespace lath::wave::manufactured
