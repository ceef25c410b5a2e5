#include "apps/wave/source_points.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace lath::wave;

Problem block() {
  Problem problem;
  problem.points = {21, 21, 21};
  problem.spacing = 2.0;
  problem.top = Problem::Top::damped;
  return problem;
}

double polynomial(const Position& at) {
  const double x = at[0] - 20.0, y = at[1] - 20.0, z = at[2] - 20.0;
  return 1.0 + x - 2.0 * y * z + x * x * z - 0.1 * std::pow(y, 4);
}

/// What the spread source does to a test function, one component: the sum of cell * density * value.
double functional(const Problem& problem, const Source& source, std::int64_t component) {
  double sum = 0.0;
  for (const SourcePoint& at : spread(problem, source)) {
    if (at.component == component) sum += 8.0 * at.density * polynomial(problem.position(at.point));
  }
  return sum;
}

TEST(SourcePoints, AForceActsAsAPointForce) {
  Source source;
  source.position = {20.3, 19.1, 21.0};
  source.force = {3.0, 0.0, -1.0};
  EXPECT_NEAR(functional(block(), source, 0), 3.0 * polynomial(source.position), 1e-10);
  EXPECT_NEAR(functional(block(), source, 1), 0.0, 1e-12);
  EXPECT_NEAR(functional(block(), source, 2), -polynomial(source.position), 1e-10);
}

TEST(SourcePoints, AMomentActsAsItsDivergence) {
  Source source;
  source.position = {20.3, 19.1, 21.0};
  source.moment = {0.0, 5.0, 0.0, 0.0, 0.0, 2.0};
  const double x = 0.3, y = -0.9, z = 1.0;
  const double dx = 1.0 + 2.0 * x * z, dy = -2.0 * z - 0.4 * y * y * y, dz = -2.0 * y + x * x;
  // Force i is -d_j (M_ij delta), so it takes d_j of the test function.
  EXPECT_NEAR(functional(block(), source, 0), 5.0 * dy, 1e-10);
  EXPECT_NEAR(functional(block(), source, 1), 5.0 * dx, 1e-10);
  EXPECT_NEAR(functional(block(), source, 2), 2.0 * dz, 1e-10);
}

TEST(SourcePoints, OnAGridPointAForceIsOnePoint) {
  Source source;
  source.position = {20.0, 18.0, 22.0};
  source.force = {1.0, 0.0, 0.0};
  const std::vector<SourcePoint> points = spread(block(), source);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].point, (std::array<std::int64_t, 3>{10, 9, 11}));
  EXPECT_DOUBLE_EQ(points[0].density, 1.0 / 8.0);
}

}  // namespace
