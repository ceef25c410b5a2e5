#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/run_command.hpp"

namespace lath::cli {
namespace {

std::string segments(const std::string& type, const std::string& count = "1") {
  const Finished finished = lath({"segments", type, "--count", count});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  return finished.out;
}

TEST(Segments, BL19_TwoVectorsMergeWhereOneEndsAtTheNext) {
  EXPECT_EQ(segments("vector(3,2,4,int)", "2"), "0 8\n16 8\n32 16\n56 8\n72 8\n");
  EXPECT_EQ(segments("contiguous(3,int)", "4"), "0 48\n");
}

TEST(Segments, BL06_PackedOrderIsKept) {
  EXPECT_EQ(segments("hindexed([1,1,1],[8,0,4],int)"), "8 4\n0 8\n");
  EXPECT_EQ(segments("vector(3,1,-1,int)"), "0 4\n-4 4\n-8 4\n");
}

TEST(Segments, BL07_OverlappingBlocksStayApart) {
  EXPECT_EQ(segments("indexed([2,2,1,3],[0,1,2,4],int)"), "0 8\n4 8\n8 4\n16 12\n");
}

TEST(Segments, BL44_EmptyBlocksAreLeftOut) {
  EXPECT_EQ(segments("indexed([0,8,0,8],[0,4,20,24],byte)"), "4 8\n24 8\n");
  EXPECT_EQ(segments("hvector(0,3,64,int)", "5"), "");
  EXPECT_EQ(segments("vector(3,2,4,int)", "0"), "");
}

TEST(Segments, BL16_LengthsPast32Bits) {
  EXPECT_EQ(segments("indexed([1500000000,1500000000],[0,1500000000],byte)"), "0 3000000000\n");
  EXPECT_EQ(segments("indexed([192,192],[576,0],contiguous(20000000,float))"),
            "46080000000 15360000000\n0 15360000000\n");
}

TEST(Segments, CountsAreDecimal) {
  EXPECT_EQ(segments("int", "010"), "0 40\n");
  EXPECT_EQ(segments("byte", "9223372036854775807"), "0 9223372036854775807\n");
}

TEST(Segments, ManySegmentsAreStreamed) {
  const std::string out = segments("vector(200000,1,3,int)", "5");
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1'000'000 - 4);
  EXPECT_TRUE(out.starts_with("0 4\n12 4\n24 4\n"));
}

TEST(Segments, AReaderThatLeavesEndsIt) {
  const Finished finished =
      run({"sh", "-c", command_path() + " segments 'vector(100000000000,1,2,int)' | head -n 2"});
  EXPECT_EQ(finished.out, "0 4\n8 4\n");
}

TEST(Segments, TakesPatternNames) {
  EXPECT_TRUE(segments("sw4_y_big").starts_with("0 3200\n320000 3200\n"));
}

}  // namespace
}  // namespace lath::cli
