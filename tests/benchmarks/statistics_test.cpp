#include "benchmarks/statistics.hpp"

#include <gtest/gtest.h>

namespace lath::benchmarks {
namespace {

TEST(Quartiles, InterpolateBetweenSamples) {
  const Quartiles q = quartiles({4.0, 1.0, 3.0, 2.0});
  EXPECT_DOUBLE_EQ(q.q1, 1.75);
  EXPECT_DOUBLE_EQ(q.median, 2.5);
  EXPECT_DOUBLE_EQ(q.q3, 3.25);
  EXPECT_EQ(q.samples, 4U);
}

TEST(Quartiles, OfOneAndOfNone) {
  EXPECT_DOUBLE_EQ(quartiles({7.0}).q1, 7.0);
  EXPECT_DOUBLE_EQ(quartiles({7.0}).q3, 7.0);
  EXPECT_EQ(quartiles({}).samples, 0U);
}

}  // namespace
}  // namespace lath::benchmarks
