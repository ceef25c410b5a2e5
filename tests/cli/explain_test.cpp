#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"

namespace lath::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Example {
  const char* id;
  const char* type;
  const char* count;
  std::int64_t bytes;
  std::int64_t extent;
  std::int64_t segments;
};

class BugLogType : public testing::TestWithParam<Example> {};

TEST_P(BugLogType, IsExplained) {
  const Example& example = GetParam();
  const Finished finished = lath({"explain", example.type, "--count", example.count, "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json told = json::parse(finished.out);
  EXPECT_EQ(told["bytes"], example.bytes);
  EXPECT_EQ(told["extent"], example.extent);
  EXPECT_EQ(told["segments"], example.segments);
  EXPECT_TRUE(told["lengths"]["exact"]);
  for (const char* side : {"send", "receive"}) {
    ASSERT_EQ(told[side]["schemes"].size(), 5U);
    for (const json& scheme : told[side]["schemes"]) EXPECT_NE(scheme["reason"], "") << scheme;
  }
  const Finished device =
      lath({"explain", example.type, "--count", example.count, "--memory", "device"}, {"LATH_GPU=emulated"});
  EXPECT_EQ(device.status, 0) << device.err;
  EXPECT_THAT(device.out, HasSubstr(example.bytes == 0 ? "no data" : "receiving side: "));
}

// One input a bug-log entry, and its packed bytes, extent and merged segments.
const Example examples[] = {
    {"BL01", "resized(0,4,contiguous(8,int))", "2", 64, 4, 2},
    {"BL01_nested", "contiguous(2,resized(0,4,contiguous(8,int)))", "1", 64, 8, 2},
    {"BL02", "contiguous(3,resized(0,6,int))", "1", 12, 18, 3},
    {"BL03_indexed", "indexed([0],[0],c_double_complex)", "1", 0, 0, 0},
    {"BL03_hvector", "hvector(0,3,64,int)", "5", 0, 0, 0},
    {"BL03_contiguous", "contiguous(0,char)", "1", 0, 0, 0},
    {"BL06_vector", "vector(64,1,-1,int)", "1", 256, 256, 64},
    {"BL06_hindexed", "hindexed([1,1,1],[8,0,4],int)", "1", 12, 12, 2},
    {"BL07", "indexed([2,2,1,3],[0,1,2,4],int)", "1", 32, 28, 4},
    {"BL08", "struct([1,1],[0,12],[vector(3,1,0,int),int])", "1", 16, 16, 4},
    {"BL13_fortran", "subarray([4,3,2],[2,2,1],[1,1,1],fortran,int)", "1", 16, 96, 2},
    {"BL13_c", "subarray([4,3,2],[2,2,1],[1,1,1],c,int)", "1", 16, 96, 4},
    {"BL15_short_int", "short_int", "4", 24, 8, 5},
    {"BL15_double_int", "double_int", "1", 12, 16, 1},
    {"BL16_indexed", "indexed([192,192],[576,0],contiguous(20000000,float))", "1", 30720000000, 61440000000,
     2},
    {"BL16_vector", "vector(3,2147483647,2147483647,byte)", "1", 6442450941, 6442450941, 1},
    {"BL16_merged", "indexed([1500000000,1500000000],[0,1500000000],byte)", "1", 3000000000, 3000000000, 1},
    {"BL18", "struct([1,1],[0,8],[int,double])", "3", 36, 16, 4},
    {"BL19_contiguous", "contiguous(3,int)", "4", 48, 12, 1},
    {"BL19_vector", "vector(3,2,4,int)", "2", 48, 40, 5},
    {"BL20", "vector(2,1,3,int)", "1", 8, 16, 2},
    {"BL21_vector", "vector(1000,3,5,double)", "1", 24000, 39984, 1000},
    {"BL21_struct", "struct([1,1],[0,8],[int,uint64_t])", "500", 6000, 16, 501},
    {"BL24", "vector(20000,1,2,double)", "1", 160000, 319992, 20000},
    {"BL25", "contiguous(0,int)", "3", 0, 0, 0},
    {"BL27_vector", "vector(4,1,2,int)", "1", 16, 28, 4},
    {"BL27_indexed_block", "indexed_block(1,[1,3,5,7],int)", "1", 16, 28, 4},
    {"BL29", "vector(20000,1,2,int)", "1", 80000, 159996, 20000},
    {"BL32", "vector(8,1,2,int)", "1", 32, 60, 8},
    {"BL33_tiny", "vector(1000000,1,2,int)", "1", 4000000, 7999996, 1000000},
    {"BL33_face", "vector(66000,3,260,double)", "1", 1584000, 137277944, 66000},
    {"BL34", "vector(16,4096,8192,int)", "1", 262144, 507904, 16},
    {"BL40", "vector(1024,4,16,int)", "1", 16384, 65488, 1024},
    {"BL41", "vector(1000,65536,131072,int)", "1", 262144000, 524025856, 1000},
    {"BL43", "vector(31,1,2,double)", "1", 248, 488, 31},
    {"BL44", "indexed([0,8,0,8],[0,4,20,24],byte)", "1", 16, 28, 2},
    {"BL45", "vector(1024,64,128,int)", "1", 262144, 524032, 1024},
    {"BL48", "vector(3,1,2,int)", "1", 12, 20, 3},
    {"BL49", "vector(64,3,7,int)", "1", 768, 1776, 64},
};

INSTANTIATE_TEST_SUITE_P(Explain, BugLogType, testing::ValuesIn(examples),
                         [](const auto& info) { return std::string(info.param.id); });

/// Both packaged MPIs and the text of MPI disagree on the bounds of a type without data, so only the rest is
/// tested.
TEST(Explain, BL04_ATypeWithoutDataHasNoSegments) {
  const Finished finished = lath({"explain", "contiguous(10,resized(-8,20,contiguous(0,int)))", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(json::parse(finished.out)["segments"], 0);
  EXPECT_EQ(json::parse(finished.out)["bytes"], 0);
}

TEST(Explain, BL17_AbsoluteAddresses) {
  const Finished finished =
      lath({"explain", "hindexed([1,1],[140737354125312,94103450316800],int)", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(json::parse(finished.out)["segments"], 2);
}

TEST(Explain, MoreSegmentsThanCanBeWalked) {
  const Finished finished = lath({"explain", "vector(1000000000,1,2,int)", "--count", "1000000", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_GT(json::parse(finished.out)["segments"], 999'000'000'000'000);
}

TEST(Explain, SaysWhenItLookedAtAPartOnly) {
  const Finished finished = lath(
      {"explain", "struct([1,1],[0,16],[vector(100000000,1,2,int),hvector(1,1,0,byte)])", "--count", "4"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("segments only"));
}

TEST(Explain, TextNamesTheChosenScheme) {
  const Finished finished = lath({"explain", "vector(3,2,4,int)"});
  EXPECT_THAT(finished.out, HasSubstr("sending side: "));
  EXPECT_THAT(finished.out, HasSubstr("receiving side: "));
  EXPECT_THAT(finished.out, HasSubstr("not legal"));
}

TEST(Explain, LengthsAreExactWhereAClassHoldsOnlyOne) {
  const std::string out = lath({"explain", "indexed([1,1,7,15,9],[0,10,20,30,50],byte)"}).out;
  for (const char* line : {" 1 byte: 2 segments\n", " 7 bytes: 1 segment\n", " 9 to 15 bytes: 2 segments\n"})
    EXPECT_THAT(out, HasSubstr(line));
  EXPECT_THAT(lath({"explain", "vector(3,1,2,double)"}).out, HasSubstr(" 8 bytes: 3 segments\n"));
}

TEST(Explain, OneIsNoPlural) {
  const std::string out = lath({"explain", "byte"}).out;
  EXPECT_THAT(out, testing::Not(testing::ContainsRegex("[^0-9]1 (bytes|segments)")));
}

TEST(Explain, SaysWhatTheAlignmentIsOf) {
  EXPECT_THAT(lath({"explain", "vector(3,1,2,double)"}).out,
              HasSubstr("alignment 8 bytes, which divide every segment's offset and length\n"));
}

TEST(Explain, ShortHostMessagesNeedNoScheme) {
  EXPECT_THAT(lath({"explain", "contiguous(10,double)"}).out, testing::HasSubstr("LATH_EAGER_BYTES"));
  for (const char* longer : {"contiguous(10000,double)", "vector(4000,1,2,double)"})
    EXPECT_THAT(lath({"explain", longer}).out, testing::Not(testing::HasSubstr("LATH_EAGER_BYTES")));
  EXPECT_THAT(lath({"explain", "contiguous(10,double)"}, {"LATH_SCHEME=staged"}).out,
              testing::Not(testing::HasSubstr("LATH_EAGER_BYTES")));
}

TEST(Explain, DeviceMemoryWithoutAGpuIsSupposed) {
  EXPECT_THAT(lath({"explain", "vector(4,1,2,int)", "--memory", "device"}, {"LATH_GPU=none"}).out,
              testing::HasSubstr("supposed"));
}

}  // namespace
}  // namespace lath::cli
