#include "apps/wave/time_function.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace lath::wave;

TEST(TimeFunction, SecondDerivativesAreThoseOfTheValues) {
  using Kind = TimeFunction::Kind;
  for (Kind kind : {Kind::ricker, Kind::gaussian, Kind::gaussian_step, Kind::brune_step, Kind::cosine}) {
    const TimeFunction function{kind, 1.5, 0.4};
    const double h = 1e-4;
    for (double t : {0.1, 0.35, 0.5, 0.8, 1.3}) {
      const double difference =
          (function.value(t + h) - 2.0 * function.value(t) + function.value(t - h)) / (h * h);
      EXPECT_NEAR(function.second_derivative(t), difference, 1e-4 * (1.0 + std::fabs(difference)))
          << static_cast<int>(kind) << " at " << t;
    }
  }
}

TEST(TimeFunction, StepsRiseFromZeroToOne) {
  using Kind = TimeFunction::Kind;
  for (Kind kind : {Kind::gaussian_step, Kind::brune_step}) {
    const TimeFunction function{kind, 2.0, 1.0};
    EXPECT_NEAR(function.value(-1.0), 0.0, 1e-12);
    EXPECT_NEAR(function.value(5.0), 1.0, 1e-12);
  }
}

}  // namespace
