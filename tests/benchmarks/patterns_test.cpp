#include "benchmarks/patterns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.hpp"
#include "benchmarks/message_buffer.hpp"
#include "datatypes/layout.hpp"

namespace lath::benchmarks {
namespace {

struct Shape {
  std::int64_t segments;
  std::int64_t bytes;
};

const std::map<std::string, Shape, std::less<>> shapes{
    {"wrf_x", {14476, 173712}},      {"wrf_y", {987, 90804}},          {"milc_su3_zdown", {32, 98304}},
    {"nas_lu_y_64", {64, 2560}},     {"nas_lu_y_162", {162, 6480}},    {"nas_mg_x", {65536, 524288}},
    {"nas_mg_y", {256, 1048576}},    {"nas_mg_z", {256, 1048576}},     {"lammps_full", {18372, 195968}},
    {"lammps_atomic", {972, 11664}}, {"specfem3d_oc", {3225, 12900}},  {"specfem3d_cm", {14806, 177672}},
    {"specfem3d_mt", {7600, 91200}}, {"fft2d", {262144, 4194304}},     {"sw4_x_c", {33075, 529200}},
    {"sw4_y_c", {315, 529200}},      {"sw4_x_f", {11025, 529200}},     {"sw4_y_f", {105, 529200}},
    {"sw4_y_big", {600, 1920000}},   {"sw4_x_big", {120000, 1920000}}, {"comb_i", {10000, 80000}},
    {"comb_j", {100, 80000}},        {"osu_vect", {131072, 524288}},   {"tiny_1e6", {1000000, 4000000}},
};

TEST(Patterns, HaveTheApplicationsBlocksAndBytes) {
  EXPECT_EQ(patterns().size(), shapes.size());
  for (const Pattern& pattern : patterns()) {
    const auto at = shapes.find(pattern.name);
    ASSERT_NE(at, shapes.end()) << pattern.name;
    const Layout layout = Layout::of(pattern.make(), 1);
    EXPECT_EQ(layout.segment_count(), at->second.segments) << pattern.name;
    EXPECT_EQ(layout.bytes(), at->second.bytes) << pattern.name;
  }
}

TEST(Patterns, CanBeReceivedInto) {
  for (const Pattern& pattern : patterns())
    EXPECT_FALSE(overlaps(Layout::of(pattern.make(), 1))) << pattern.name;
}

TEST(Patterns, AreTheSameEveryTime) {
  for (const char* name : {"lammps_full", "specfem3d_cm"})
    EXPECT_EQ(Layout::of(pattern_type(name), 1).hash(), Layout::of(pattern_type(name), 1).hash());
}

TEST(Patterns, ATypeSpecServesAsWell) {
  EXPECT_EQ(pattern_type("vector(3,2,4,int)").size(), 24);
  EXPECT_EQ(pattern_type("double").size(), 8);
}

TEST(Patterns, AnUnknownNameIsRefused) {
  try {
    static_cast<void>(pattern_type("sw4_x"));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.lath_code(), Code::parse);
    EXPECT_THAT(error.what(), testing::HasSubstr("sw4_x"));
    EXPECT_THAT(error.what(), testing::HasSubstr("column 1"));
  }
}

}  // namespace
}  // namespace lath::benchmarks
