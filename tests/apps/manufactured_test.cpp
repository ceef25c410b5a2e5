#include "apps/wave/manufactured.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "apps/wave/order_test.hpp"
#include "apps/wave/stencil.hpp"

namespace {

using namespace lath::wave;

/// The forces against the discrete operator on a very fine stencil around a point.
TEST(Manufactured, ForcesBalanceTheExactSolution) {
  const Extents n{5, 5, 5};
  const Strides s = strides_of<Order::c>(n);
  const double h = 2e-3;
  for (const Position centre : {Position{0.3, 0.4, 0.7}, Position{0.9, 0.1, 0.5}}) {
    std::vector<double> u(375), lambda(125), mu(125);
    for (std::int64_t p = 0; p < 125; ++p) {
      const Position at{centre[0] + h * static_cast<double>(p % 5 - 2),
                        centre[1] + h * static_cast<double>(p / 5 % 5 - 2),
                        centre[2] + h * static_cast<double>(p / 25 - 2)};
      const Vector3 shape = manufactured::shape(at);
      const auto e = static_cast<std::size_t>(p);
      u[e] = shape.x;
      u[e + 125] = shape.y;
      u[e + 250] = shape.z;
      lambda[e] = manufactured::material(at).lambda;
      mu[e] = manufactured::material(at).mu;
    }
    const Vector3 divergence = elastic_operator(u.data() + 62, s, lambda.data() + 62, mu.data() + 62, s);
    const Vector3 shape = manufactured::shape(centre);
    const Vector3 force = manufactured::force(centre);
    const double rate = 2.0 * std::numbers::pi * manufactured::time_function().frequency;
    const double inertia = -rate * rate * manufactured::material(centre).density;
    EXPECT_NEAR(force.x, inertia * shape.x - divergence.x / (h * h), 1e-5);
    EXPECT_NEAR(force.y, inertia * shape.y - divergence.y / (h * h), 1e-5);
    EXPECT_NEAR(force.z, inertia * shape.z - divergence.z / (h * h), 1e-5);
  }
}

TEST(Manufactured, ConvergesWithFourthOrder) {
  const std::unique_ptr<Ranks> alone = lone_rank();
  const std::vector<Resolution> resolutions = measure_order({9, 17, 25}, Options{}, *alone);
  EXPECT_GT(resolutions[1].order, 3.5);
  EXPECT_GT(resolutions[2].order, 3.7);
  EXPECT_LT(resolutions[2].order, 4.6);
}

}  // namespace
