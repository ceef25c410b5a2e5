#include "apps/wave/stencil.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace lath::wave;

/// A cube of points with one field and material; component and point indices as in the application.
struct Cube {
  explicit Cube(std::int64_t points)
      : n{points, points, points},
        strides(strides_of<Order::c>(n)),
        field(static_cast<std::size_t>(3 * point_count(n))),
        lambda(static_cast<std::size_t>(point_count(n)), 2.0),
        mu(lambda.size(), 1.0) {}

  template <class Function>
  void fill(std::vector<double>& values, Function&& function) const {
    for (std::int64_t k = 0; k < n.k; ++k) {
      for (std::int64_t j = 0; j < n.j; ++j) {
        for (std::int64_t i = 0; i < n.i; ++i) {
          values[static_cast<std::size_t>(element(strides, 0, i, j, k))] =
              function(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k));
        }
      }
    }
  }
  template <class Function>
  void fill_component(std::int64_t c, Function&& function) {
    std::vector<double> values(lambda.size());
    fill(values, function);
    std::copy(values.begin(), values.end(), field.begin() + c * strides.c);
  }
  Vector3 apply(const std::vector<double>& to, std::int64_t i, std::int64_t j, std::int64_t k) const {
    const std::int64_t at = element(strides, 0, i, j, k);
    return elastic_operator(to.data() + at, strides, lambda.data() + at, mu.data() + at, strides);
  }
  /// The operator at all points but the ghosts, zero there.
  std::vector<double> apply(const std::vector<double>& to) const {
    std::vector<double> result(to.size());
    for (std::int64_t k = ghosts; k < n.k - ghosts; ++k) {
      for (std::int64_t j = ghosts; j < n.j - ghosts; ++j) {
        for (std::int64_t i = ghosts; i < n.i - ghosts; ++i) {
          const Vector3 force = apply(to, i, j, k);
          const auto at = static_cast<std::size_t>(element(strides, 0, i, j, k));
          const auto next = static_cast<std::size_t>(strides.c);
          result[at] = force.x;
          result[at + next] = force.y;
          result[at + 2 * next] = force.z;
        }
      }
    }
    return result;
  }
  /// Random values, zero at the ghost points.
  std::vector<double> random(std::mt19937& generator) const {
    std::uniform_real_distribution<double> value(-1.0, 1.0);
    std::vector<double> result(field.size());
    for (std::int64_t c = 0; c < 3; ++c) {
      for (std::int64_t k = ghosts; k < n.k - ghosts; ++k) {
        for (std::int64_t j = ghosts; j < n.j - ghosts; ++j) {
          for (std::int64_t i = ghosts; i < n.i - ghosts; ++i) {
            result[static_cast<std::size_t>(element(strides, c, i, j, k))] = value(generator);
          }
        }
      }
    }
    return result;
  }

  Extents n;
  Strides strides;
  std::vector<double> field, lambda, mu;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t e = 0; e < a.size(); ++e) sum += a[e] * b[e];
  return sum;
}

TEST(Stencil, IsExactForPolynomialsInAConstantMaterial) {
  Cube cube(9);
  // u = x^4 + y^3 z, v = x y^3 + z^4, w = x^2 z^2 with lambda 2, mu 1, about the cube's middle.
  cube.fill_component(
      0, [](double x, double y, double z) { return std::pow(x - 4, 4) + std::pow(y - 4, 3) * (z - 4); });
  cube.fill_component(
      1, [](double x, double y, double z) { return (x - 4) * std::pow(y - 4, 3) + std::pow(z - 4, 4); });
  cube.fill_component(2, [](double x, double, double z) { return std::pow((x - 4) * (z - 4), 2); });
  for (std::int64_t i : {3, 4, 6}) {
    for (std::int64_t j : {2, 4, 5}) {
      for (std::int64_t k : {3, 5}) {
        const double x = static_cast<double>(i - 4), y = static_cast<double>(j - 4),
                     z = static_cast<double>(k - 4);
        const double laplacian_u = 12 * x * x + 6 * y * z, laplacian_v = 6 * x * y + 12 * z * z,
                     laplacian_w = 2 * z * z + 2 * x * x;
        // div = 4 x^3 + 3 x y^2 + 2 x^2 z
        const Vector3 force = cube.apply(cube.field, i, j, k);
        EXPECT_NEAR(force.x, 3 * (12 * x * x + 3 * y * y + 4 * x * z) + laplacian_u, 1e-10);
        EXPECT_NEAR(force.y, 3 * (6 * x * y) + laplacian_v, 1e-10);
        EXPECT_NEAR(force.z, 3 * (2 * x * x) + laplacian_w, 1e-10);
      }
    }
  }
}

TEST(Stencil, IsExactForALinearMaterialAndQuadraticDisplacement) {
  Cube cube(7);
  cube.fill(cube.lambda, [](double x, double y, double z) { return 2 + 0.1 * x + 0.2 * y + 0.3 * z; });
  cube.fill(cube.mu, [](double x, double y, double z) { return 1 + 0.3 * x + 0.1 * y + 0.2 * z; });
  cube.fill_component(0, [](double x, double y, double z) { return x * x + y * z; });
  const std::int64_t i = 3, j = 2, k = 4;
  const double x = 3, y = 2, z = 4;
  const double lambda = 2 + 0.1 * x + 0.2 * y + 0.3 * z, mu = 1 + 0.3 * x + 0.1 * y + 0.2 * z;
  const Vector3 force = cube.apply(cube.field, i, j, k);
  EXPECT_NEAR(force.x, 2 * (lambda + 2 * mu) + (0.1 + 0.6) * 2 * x + 0.1 * z + 0.2 * y, 1e-11);
  EXPECT_NEAR(force.y, 0.3 * z + 0.2 * 2 * x, 1e-11);
  EXPECT_NEAR(force.z, 0.3 * y + 0.3 * 2 * x, 1e-11);
}

TEST(Stencil, OrdersGiveTheSameBits) {
  Cube cube(6);
  std::mt19937 generator(7);
  const std::vector<double> field = cube.random(generator);
  const Strides fortran = strides_of<Order::fortran>(cube.n);
  std::vector<double> turned(field.size());
  for (std::int64_t c = 0; c < 3; ++c) {
    for (std::int64_t p = 0; p < point_count(cube.n); ++p) {
      turned[static_cast<std::size_t>(3 * p + c)] = field[static_cast<std::size_t>(c * cube.strides.c + p)];
    }
  }
  const std::int64_t cell = element(cube.strides, 0, 3, 2, 3);
  const Vector3 a = cube.apply(field, 3, 2, 3);
  const Vector3 b = elastic_operator(turned.data() + 3 * cell, fortran, cube.lambda.data() + cell,
                                     cube.mu.data() + cell, cube.strides);
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.z, b.z);
}

/// With the ghosts at rest the operator is symmetric and takes energy from nothing, even where the stiffness
/// jumps to zero as above a free surface: what the stability of the time stepping rests on.
TEST(Stencil, IsSymmetricAndNegativeForDiscontinuousMaterials) {
  Cube cube(12);
  std::mt19937 generator(11);
  std::uniform_real_distribution<double> modulus(0.0, 3.0);
  for (std::size_t p = 0; p < cube.mu.size(); ++p) {
    cube.mu[p] = modulus(generator);
    cube.lambda[p] = modulus(generator);
  }
  cube.fill(cube.mu, [&](double, double, double z) { return z < 4 ? 0.0 : modulus(generator); });
  cube.fill(cube.lambda, [&](double, double, double z) { return z < 4 ? 0.0 : modulus(generator); });
  for (int round = 0; round < 20; ++round) {
    const std::vector<double> u = cube.random(generator), v = cube.random(generator);
    const std::vector<double> lu = cube.apply(u), lv = cube.apply(v);
    EXPECT_NEAR(dot(u, lv), dot(v, lu), 1e-9 * std::fabs(dot(u, lu)));
    EXPECT_LT(dot(u, lu), 0.0);
  }
}

}  // namespace
