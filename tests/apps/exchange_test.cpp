#include "apps/wave/exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "gpu/device.hpp"
#include "tests/apps/run_wave.hpp"
#include "tests/cli/run_command.hpp"

namespace {

using lath::wave::run_wave;
using lath::wave::WaveRun;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string tiny = LATH_TINY_INPUT " --no-files ";

/// One rank, host memory, order c: what every other run must agree with.
const std::string& reference() {
  static const std::string checksum = run_wave(tiny).checksum();
  return checksum;
}

std::string skip_reason(const std::string& memory) {
  if (memory == "host" || lath::gpu::availability().available) return "";
  return "no device memory here: " + lath::gpu::availability().reason;
}

using Case = std::tuple<int, const char*, const char*, const char*>;

class SameBits : public testing::TestWithParam<Case> {};

TEST_P(SameBits, AsOneRankInHostMemory) {
  const auto& [ranks, order, memory, scheme] = GetParam();
  if (const std::string reason = skip_reason(memory); !reason.empty()) GTEST_SKIP() << reason;
  const WaveRun run = run_wave(tiny + "--ranks " + std::to_string(ranks) + " --order " + order +
                               " --memory " + memory + " --scheme " + scheme);
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.checksum().size(), 16U) << run.output;
  EXPECT_EQ(run.checksum(), reference()) << run.output;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  const auto& [ranks, order, memory, scheme] = info.param;
  return std::to_string(ranks) + "_" + order + "_" + memory + "_" + scheme;
}

INSTANTIATE_TEST_SUITE_P(OneRank, SameBits,
                         testing::Combine(testing::Values(1), testing::Values("c", "fortran"),
                                          testing::Values("host", "device"), testing::Values("auto")),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Exchanged, SameBits,
                         testing::Combine(testing::Values(2, 4), testing::Values("c", "fortran"),
                                          testing::Values("host", "device"),
                                          testing::Values("auto", "gather", "device_pack", "host_pack",
                                                          "staged")),
                         case_name);

TEST(Exchange, RandomDelaysInEveryStreamChangeNoBit) {
  if (const std::string reason = skip_reason("device"); !reason.empty()) GTEST_SKIP() << reason;
  const WaveRun run = run_wave(tiny + "--ranks 2 --memory device", "LATH_EMULATOR_DELAY_US=300");
  EXPECT_EQ(run.checksum(), reference()) << run.output;
}

TEST(Exchange, TableTellsEveryFacesTypeAndScheme) {
  const WaveRun run = run_wave(tiny + "--ranks 4 --order fortran --scheme staged");
  // 17 x 15 points in 2 x 2 blocks: 8 and 9 points along x, 7 and 8 along y, with ghosts 12 and 13, 11
  // and 12.
  for (const char* text :
       {"x-low", "x-high", "y-low", "y-high", "vector(176,6,36,double)", "vector(192,6,36,double)",
        "vector(16,72,396,double)", "vector(16,78,468,double)", "staged/staged"}) {
    EXPECT_THAT(run.output, HasSubstr(text));
  }
}

TEST(Exchange, SaysWhereTheAskedSchemeIsNotLegal) {
  const WaveRun run = run_wave(tiny + "--ranks 2 --scheme contiguous");
  EXPECT_EQ(run.checksum(), reference()) << run.output;
  EXPECT_THAT(run.output, HasSubstr("scheme contiguous is not legal for every face"));
}

#ifdef LATH_MPIEXEC
TEST(ExchangeUnderMpiexec, LathAndMpiGiveTheSameBits) {
  for (const char* options :
       {"--exchange mpi --order c", "--exchange mpi --order fortran", "--exchange lath"}) {
    const WaveRun run = run_wave(tiny + options, LATH_MPIEXEC " -n 4");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.checksum(), reference()) << options << run.output;
  }
}

TEST(ExchangeUnderMpiexec, MpiOnDeviceMemoryWorksOrSaysThatItCannot) {
  if (const std::string reason = skip_reason("device"); !reason.empty()) GTEST_SKIP() << reason;
  const WaveRun run = run_wave(tiny + "--exchange mpi --memory device", LATH_MPIEXEC " -n 2");
  if (run.status == 0) {
    EXPECT_EQ(run.checksum(), reference());
  } else {
    EXPECT_THAT(run.output, HasSubstr("takes no device memory: use --memory host, or --exchange lath"));
  }
}

TEST(ExchangeUnderMpiexec, VerifyComparesWithOneRank) {
  const WaveRun run = run_wave(tiny + "--verify", LATH_MPIEXEC " -n 4");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("wave: PASS"));
}
#endif

TEST(CommandLine, VerifyEndsWithTheVerdict) {
  const WaveRun run = run_wave(tiny + "--verify --ranks 4 --order fortran");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.last_line(), "wave: PASS");
}

TEST(CommandLine, VerifyFailsOnOneWrongBit) {
  if (const std::string reason = skip_reason("device"); !reason.empty()) GTEST_SKIP() << reason;
  for (const char* ranks : {"", " --ranks 2"}) {
    const WaveRun run =
        run_wave(tiny + "--verify --memory device" + ranks, "LATH_EMULATOR_CORRUPT=cuMemcpyAsync:1+");
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_THAT(run.output, HasSubstr("DIFFERENT"));
    EXPECT_THAT(run.output, HasSubstr("wave: FAIL"));
  }
}

TEST(CommandLine, OrderTestRunsOnRanksToo) {
  const WaveRun run = run_wave("--order-test --ranks 2");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.last_line(), "wave: PASS") << run.output;
}

TEST(CommandLine, WrongUsageGivesTwo) {
  for (const char* arguments :
       {"", "--order-test x.toml", "--memory disk x.toml", "--scheme best x.toml", "--ranks 0 x.toml",
        "--ranks 0x2 x.toml", "--ranks 99999999999999999999 x.toml", "--unknown", "/nonexistent/x.toml",
        "--exchange mpi --scheme staged x.toml", "/"}) {
    const WaveRun run = run_wave(arguments);
    EXPECT_EQ(run.status, 2) << arguments << run.output;
  }
  EXPECT_EQ(run_wave("--help").status, 0);
}

/// What is refused is refused before anything is printed.
TEST(CommandLine, RefusalsLeaveStandardOutputEmpty) {
  const std::pair<const char*, const char*> refused[] = {
      {"--memory device", "LATH_GPU=none"},
      {"--memory device --ranks 2", "LATH_GPU=none"},
      {"--ranks 13", "LATH_GPU=none"},
      {"--ranks 2", "LATH_LOG=loud"},
      {"", "LATH_SCHEME=magic"},
      {"--memory device", "LATH_EMULATOR_FAIL=cuMemAlloc"},
  };
  for (const auto& [options, setting] : refused) {
    const lath::cli::Finished finished =
        lath::cli::run({"sh", "-c", LATH_WAVE " " + tiny + options}, {setting});
    EXPECT_EQ(finished.status, 2) << options << setting;
    EXPECT_EQ(finished.out, "") << options << setting;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

TEST(CommandLine, OneRankSaysThatItExchangesNothing) {
  const WaveRun run = run_wave(tiny);
  EXPECT_THAT(run.output, HasSubstr("no exchange: one rank has no neighbours"));
  EXPECT_THAT(run.output, Not(HasSubstr("segments")));
  EXPECT_THAT(run.output, ContainsRegex("largest displacement at the end: .* m\n"));
}

/// A copy of tiny.toml with one line replaced.
std::string changed_input(const std::string& name, const std::string& line, const std::string& replacement) {
  std::ifstream in(LATH_TINY_INPUT);
  std::stringstream text;
  text << in.rdbuf();
  std::string all = text.str();
  all.replace(all.find(line), line.size(), replacement);
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << all;
  return path;
}

TEST(CommandLine, AGridBeyondMemoryIsSaid) {
  const WaveRun run = run_wave(
      changed_input("lath-huge.toml", "points = [17, 15, 12]", "points = [1000000, 1000000, 1000000]"));
  EXPECT_EQ(run.status, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("1000000 x 1000000 x 1000000 points on 1 ranks do not fit"));
}

TEST(CommandLine, AFolderThatCannotBeMadeIsSaidBeforeTheRun) {
  const lath::cli::Finished finished =
      lath::cli::run({LATH_WAVE, changed_input("lath-folder.toml", "[damping]",
                                               "[output]\nreceivers = \"/dev/null/x\"\n[damping]")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("/dev/null/x"));
}

TEST(CommandLine, ExchangeMpiNeedsThatMpi) {
  const WaveRun run = run_wave(tiny + "--exchange mpi --ranks 2");
  EXPECT_EQ(run.status, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("--exchange mpi needs"));
}

TEST(CommandLine, MoreRanksThanTheGridHoldsIsSaid) {
  const WaveRun run = run_wave(tiny + "--ranks 13");
  EXPECT_EQ(run.status, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("cannot be divided among 13 ranks"));
}

}  // namespace
