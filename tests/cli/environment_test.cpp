#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/cli/run_command.hpp"

namespace lath::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Setting {
  const char* name;
  const char* value;
  const char* expected;  ///< what the refusal says is expected
};

// One of every kind of variable.
const Setting unusable[] = {
    {"LATH_GPU", "foo", "auto|emulated|none"},
    {"LATH_LOG", "loud", "off|error|warn|info|debug"},
    {"LATH_SCHEME", "magic", "contiguous"},
    {"LATH_CHECK_BUFFERS", "maybe", "yes"},
    {"LATH_EAGER_BYTES", "8Q", "64K"},
    {"LATH_CHUNK_BYTES", "0", "at least 1"},
    {"LATH_CHUNKS_IN_FLIGHT", "65", "from 1 to 64"},
    {"LATH_SPIN", "-1", "whole number"},
    {"LATH_JOB_TIMEOUT", "soon", "whole number"},
    {"LATH_EMULATOR_DEVICES", "17", "from 0 to 16"},
    {"LATH_EMULATOR_THREADS", "all", "once|faithful"},
};

std::string entry(const Setting& setting) {
  return std::string(setting.name) + "=" + setting.value;
}

std::string shown(const Setting& setting) {
  return std::string(setting.name) + "='" + setting.value + "'";
}

std::ptrdiff_t occurrences(const std::string& text, const std::string& of) {
  std::ptrdiff_t count = 0;
  for (auto at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
  return count;
}

class UnusableVariable : public testing::TestWithParam<Setting> {};

TEST_P(UnusableVariable, IsRefusedByEveryCommand) {
  const Setting& setting = GetParam();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"segments", "int"},
        {"explain", "int"},
        {"bench", "list"},
        {"bench", "pingpong", "--pattern", "int", "--iterations", "1"}}) {
    const Finished finished = lath(command, {entry(setting)});
    EXPECT_EQ(finished.status, 2) << command.front();
    EXPECT_EQ(finished.out, "") << command.front();
    EXPECT_THAT(finished.err, HasSubstr(setting.expected)) << command.front();
    EXPECT_EQ(occurrences(finished.err, shown(setting)), 1) << finished.err;
  }
  EXPECT_EQ(lath({"--help"}, {entry(setting)}).status, 0);
}

TEST_P(UnusableVariable, IsShownByInfo) {
  const Finished finished = lath({"info"}, {entry(GetParam())});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, HasSubstr("UNUSABLE: " + shown(GetParam())));
}

TEST_P(UnusableVariable, IsRefusedWhenAWorkerIsMade) {
  const Finished finished = run({std::getenv("HALO_EXAMPLE")}, {entry(GetParam())});
  EXPECT_NE(finished.status, 0);
  EXPECT_THAT(finished.err, AllOf(HasSubstr(shown(GetParam())), HasSubstr(GetParam().expected)));
}

INSTANTIATE_TEST_SUITE_P(Environment, UnusableVariable, testing::ValuesIn(unusable),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Environment, SeveralUnusableValuesAreSaidTogether) {
  const Finished finished = lath({"segments", "int"}, {"LATH_GPU=foo", "LATH_SPIN=often"});
  EXPECT_THAT(finished.err, AllOf(HasSubstr("LATH_GPU='foo'"), HasSubstr("LATH_SPIN='often'")));
}

TEST(Environment, WhatTheEmulatorCannotReadNamesTheVariable) {
  const std::vector<std::string> environment{"LATH_GPU=emulated", "LATH_EMULATOR_FAIL=cuMemAlloc"};
  const Finished finished = lath({"explain", "int"}, environment);
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(occurrences(finished.err, "LATH_EMULATOR_FAIL='cuMemAlloc' is not"), 1) << finished.err;
  EXPECT_THAT(run({std::getenv("HALO_EXAMPLE")}, environment).err, HasSubstr("LATH_EMULATOR_FAIL"));
}

TEST(Environment, AnEmulatorThatIsNotThereIsRefusedWithThePlaces) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("lath-environment-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(command_path(), folder / "lath",
                             std::filesystem::copy_options::overwrite_existing);
  const std::vector<std::string> environment{"LATH_GPU=emulated", "LATH_EMULATOR="};
  const Finished info = run({(folder / "lath").string(), "info"}, environment);
  const Finished finished = run({(folder / "lath").string(), "segments", "int"}, environment);
  std::filesystem::remove_all(folder);
  if (info.out.find("(emulated)") != std::string::npos) GTEST_SKIP() << "an emulator is installed";
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr((folder / "lath/emulator/libcuda.so.1").string()));
}

class UnknownProvider : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(UnknownProvider, IsRefusedAlikeByOptionAndByVariable) {
  std::vector<std::string> by_option = GetParam();
  by_option.insert(by_option.end(), {"--provider", "bogus"});
  for (const Finished& finished : {lath(by_option), lath(GetParam(), {"LATH_PROVIDER=bogus"}),
                                   lath(GetParam(), {"LATH_PROVIDER=ofi:bogus"})}) {
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(occurrences(finished.err, "invalid argument"), 1) << finished.err;
    EXPECT_EQ(occurrences(finished.err, "bogus"), 1) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("it offers"));
  }
}

INSTANTIATE_TEST_SUITE_P(Environment, UnknownProvider,
                         testing::Values(std::vector<std::string>{"explain", "int"},
                                         std::vector<std::string>{"bench", "pingpong", "--pattern", "int",
                                                                  "--iterations", "1"}),
                         [](const auto& info) { return info.param.front(); });

}  // namespace
}  // namespace lath::cli
