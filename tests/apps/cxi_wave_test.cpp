#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/apps/run_wave.hpp"

/// The wave application over the stand-in for cxi, which meson's environment makes the provider.
namespace {

using lath::wave::run_wave;
using lath::wave::WaveRun;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;

const std::string tiny = LATH_TINY_INPUT " --no-files ";

/// The lines that the ranks' stand-ins leave.
class Counted {
 public:
  Counted() : path_(std::filesystem::temp_directory_path() / ("lath-cxi-" + std::to_string(getpid()))) {
    std::filesystem::remove(path_);
  }
  ~Counted() { std::filesystem::remove(path_); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  [[nodiscard]] std::string launcher() const { return "CXI_STAND_IN_COUNTS=" + path_.string(); }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);)
      // A launching process moves nothing itself.
      if (!line.starts_with("operations=0 ")) lines.push_back(line);
    return lines;
  }

 private:
  std::filesystem::path path_;
};

using Case = std::tuple<int, const char*, const char*>;

class CxiWave : public testing::TestWithParam<Case> {};

TEST_P(CxiWave, SameBitsAsOneRankAndNoRuleBroken) {
  const auto& [ranks, memory, scheme] = GetParam();
  static const std::string reference = run_wave(tiny).checksum();
  const Counted counted;
  const WaveRun run =
      run_wave(tiny + "--ranks " + std::to_string(ranks) + " --memory " + memory + " --scheme " + scheme,
               counted.launcher());
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.checksum(), reference) << run.output;
  const auto lines = counted.lines();
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(ranks));
  EXPECT_THAT(lines, Each(HasSubstr("refusals=0")));
  const bool by_nic = std::string(memory) == "device" &&
                      (std::string(scheme) == "auto" || std::string(scheme) == "device_pack");
  if (by_nic) {
    EXPECT_THAT(lines, Each(ContainsRegex("device_operations=[1-9]")));
  }
}

INSTANTIATE_TEST_SUITE_P(RanksMemoryScheme, CxiWave,
                         testing::Combine(testing::Values(2, 4), testing::Values("host", "device"),
                                          testing::Values("auto", "device_pack", "host_pack", "staged")),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "_" + std::get<1>(info.param) +
                                  "_" + std::get<2>(info.param);
                         });

}  // namespace
