#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.hpp"

namespace lath::cli {
namespace {

using testing::HasSubstr;

struct Usage {
  std::vector<std::string> arguments;
  std::string complaint;
};

class WrongUsage : public testing::TestWithParam<Usage> {};

TEST_P(WrongUsage, EndsInTwoWithNothingOnStandardOutput) {
  const Finished finished = lath(GetParam().arguments);
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Command, WrongUsage,
    testing::Values(
        Usage{{}, "subcommand"}, Usage{{"bogus"}, "bogus"}, Usage{{"--bogus"}, "--bogus"},
        Usage{{"bench"}, "subcommand"}, Usage{{"segments"}, "type"},
        Usage{{"segments", "int", "--count"}, "--count"},
        Usage{{"segments", "int", "--count", "-1"}, "--count"},
        Usage{{"segments", "int", "--count", "many"}, "many"},
        Usage{{"segments", "int", "--count", "0x10"}, "0x10"},
        Usage{{"explain", "int", "--count", "1e3"}, "1e3"},
        Usage{{"segments", "int", "--count", "9223372036854775808"}, "--count"},
        Usage{{"explain", "byte", "--count", "99999999999999999999"}, "99999999999999999999"},
        Usage{{"bench", "pingpong", "--pattern", "int", "--iterations", "18446744073709551617"},
              "18446744073709551617"},
        Usage{{"segments", "int", "another"}, "another"},
        Usage{{"explain", "int", "--memory", "tape"}, "--memory"},
        Usage{{"segments", "vector(3,2"}, "column 11"}, Usage{{"segments", "vector(3,2,4,itn)"}, "column 14"},
        Usage{{"segments", ""}, "column 1"}, Usage{{"segments", "nonsense"}, "lath bench list"},
        Usage{{"explain", "vector(3;2,4,int)"}, "column 9"}, Usage{{"segments", "vector(-3,2,4,int)"}, "-3"},
        Usage{{"explain", "contiguous(9223372036854775807,double)"}, "64 bits"},
        Usage{{"explain", "double", "--count", "9223372036854775807"}, "64 bits"},
        Usage{{"info", "surplus"}, "surplus"}, Usage{{"bench", "pingpong"}, "--pattern"},
        Usage{{"bench", "pingpong", "--pattern", "vector(3,2,"}, "column"},
        Usage{{"bench", "pingpong", "--pattern", "int", "--scheme", "magic"}, "--scheme"},
        Usage{{"bench", "pingpong", "--pattern", "int", "--iterations", "0"}, "--iterations"},
        Usage{{"bench", "pingpong", "--pattern", "int", "--seconds", "1e300"}, "--seconds"},
        Usage{{"bench", "pingpong", "--pattern", "int", "--seconds", "nan"}, "--seconds"},
        Usage{{"bench", "pingpong", "--pattern", "int", "--peer-pattern", "double"}, "whole number"},
        Usage{{"bench", "pingpong", "--pattern", "resized(0,4,contiguous(8,int))", "--count", "2"},
              "overlaps"},
        Usage{{"bench", "pingpong", "--pattern", "vector(2,1,3000000000,int)"}, "spans"}));

TEST(Usage, HelpIsASubcommandToo) {
  EXPECT_EQ(lath({"help"}).out, lath({"--help"}).out);
  EXPECT_EQ(lath({"help"}).status, 0);
  EXPECT_EQ(lath({"help", "bench", "pingpong"}).out, lath({"bench", "pingpong", "--help"}).out);
}

TEST(Usage, HelpAndVersionAreAnswers) {
  const Finished help = lath({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* subcommand : {"info", "segments", "explain", "bench"})
    EXPECT_THAT(help.out, HasSubstr(subcommand));
  EXPECT_EQ(lath({"bench", "pingpong", "--help"}).status, 0);
  EXPECT_EQ(lath({"--version"}).out, "0.1.0\n");
}

TEST(Usage, AFullDiskIsAFailure) {
  for (const char* arguments : {"segments int", "--help", "help bench", "--version"}) {
    const Finished finished = run({"sh", "-c", command_path() + ' ' + arguments + " > /dev/full"});
    EXPECT_EQ(finished.status, 1) << arguments;
    EXPECT_THAT(finished.err, HasSubstr("standard output")) << arguments;
  }
}

}  // namespace
}  // namespace lath::cli
