#include "cli/lengths.hpp"

#include <gtest/gtest.h>

#include "datatypes/type_spec.hpp"

namespace lath::cli {
namespace {

LengthHistogram of(const char* type, std::int64_t count, std::int64_t limit = 1 << 20) {
  return length_histogram(Layout::of(parse_type(type), count), limit);
}

TEST(Lengths, CountsByPowersOfTwo) {
  const LengthHistogram lengths = of("indexed([1,7,8,15,16,1],[0,100,200,300,400,500],byte)", 1);
  ASSERT_EQ(lengths.classes.size(), 4U);
  EXPECT_EQ(lengths.classes[0].least, 1);
  EXPECT_EQ(lengths.classes[0].segments, 2);
  EXPECT_EQ(lengths.classes[1].least, 4);
  EXPECT_EQ(lengths.classes[1].segments, 1);
  EXPECT_EQ(lengths.classes[2].least, 8);
  EXPECT_EQ(lengths.classes[2].segments, 2);
  EXPECT_EQ(lengths.classes[2].shortest, 8);
  EXPECT_EQ(lengths.classes[2].longest, 15);
  EXPECT_EQ(lengths.classes[1].shortest, 7);
  EXPECT_EQ(lengths.classes[1].longest, 7);
  EXPECT_EQ(lengths.classes[3].least, 16);
  EXPECT_EQ(lengths.shortest, 1);
  EXPECT_EQ(lengths.longest, 16);
  EXPECT_TRUE(lengths.exact);
}

TEST(Lengths, RegularTypesNeedNoWalk) {
  const LengthHistogram lengths = of("vector(1000000000000,1,2,double)", 1);
  EXPECT_TRUE(lengths.exact);
  EXPECT_EQ(lengths.classes.front().least, 8);
}

TEST(Lengths, BL16_OneLongSegment) {
  const LengthHistogram lengths = of("contiguous(3000000000,byte)", 1);
  ASSERT_EQ(lengths.classes.size(), 1U);
  EXPECT_EQ(lengths.classes[0].least, std::int64_t{1} << 31);
}

TEST(Lengths, AnEmptyTypeHasNone) {
  EXPECT_TRUE(of("contiguous(0,int)", 7).classes.empty());
  EXPECT_TRUE(of("contiguous(0,int)", 7).exact);
}

TEST(Lengths, TheLimitIsTold) {
  const LengthHistogram lengths = of("indexed([1,2,1,2],[0,10,20,30],byte)", 10, 16);
  EXPECT_FALSE(lengths.exact);
  EXPECT_EQ(lengths.examined, 16);
}

}  // namespace
}  // namespace lath::cli
