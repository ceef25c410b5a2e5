#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"

namespace lath::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> pingpong(const std::string& pattern, std::vector<std::string> more) {
  std::vector<std::string> out{"bench",        "pingpong", "--pattern", pattern,
                               "--iterations", "10",       "--json",    "-"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

json report(const Finished& finished) {
  EXPECT_EQ(finished.status, 0) << finished.err;
  return finished.status == 0 ? json::parse(finished.out) : json();
}

void expect_counters(const json& counters) {
  for (const char* key : {"messages", "segments", "work_requests", "doorbells", "pack_copies", "staged_bytes",
                          "wire_bytes", "registrations", "driver_calls", "event_polls"})
    EXPECT_TRUE(counters.contains(key)) << key;
}

struct Place {
  const char* name;
  const char* provider;
  const char* memory;
  const char* peer_memory;
};

class Pingpong : public testing::TestWithParam<Place> {};

TEST_P(Pingpong, EveryLegalSchemeDeliversEveryByte) {
  const Place& place = GetParam();
  const json told = report(lath(pingpong("sw4_y_f", {"--provider", place.provider, "--memory", place.memory,
                                                     "--peer-memory", place.peer_memory, "--scheme", "all"}),
                                {"LATH_GPU=emulated"}));
  ASSERT_FALSE(told.is_null());
  EXPECT_EQ(told["provider"], place.provider);
  EXPECT_EQ(told["bytes"], 529200);
  EXPECT_EQ(told["sides"][0]["segments"], 105);
  EXPECT_GE(told["results"].size(), 3U);  // auto, staged, and the one that auto chose
  for (const json& result : told["results"]) {
    EXPECT_TRUE(result["passed"]) << result;
    EXPECT_GE(result["checked_bytes"], 2 * 529200);
    EXPECT_GT(result["half_round_trip_us"]["median"], 0.0);
    EXPECT_LE(result["half_round_trip_us"]["q1"], result["half_round_trip_us"]["q3"]);
    EXPECT_GT(result["ratio_to_contiguous"], 0.0);
    expect_counters(result["counters"]);
    EXPECT_EQ(result["counters"]["messages"], 20);
  }
  expect_counters(told["counters"]);
  EXPECT_TRUE(told["summary"].contains("bandwidth_gb_s"));
}

INSTANTIATE_TEST_SUITE_P(Bench, Pingpong,
                         testing::Values(Place{"tcp_host", "ofi:tcp", "host", "host"},
                                         Place{"shm_host", "ofi:shm", "host", "host"},
                                         Place{"tcp_device", "ofi:tcp", "device", "device"},
                                         Place{"shm_device", "ofi:shm", "device", "device"},
                                         Place{"shm_device_to_host", "ofi:shm", "device", "host"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Bench, BL33_DriverCallsDoNotGrowWithTheBlocks) {
  const auto calls_a_message = [](const char* pattern) {
    const json told = report(
        lath(pingpong(pattern, {"--provider", "ofi:shm", "--memory", "device"}), {"LATH_GPU=emulated"}));
    if (told.is_null()) return -1.0;
    return told["counters"]["driver_calls"].get<double>() / told["counters"]["messages"].get<double>();
  };
  const double many = calls_a_message("tiny_1e6");
  const double few = calls_a_message("vector(4,1000000,2000000,byte)");
  EXPECT_GT(many, 0.0);
  EXPECT_LE(many, few + 16.0);
  // 4,000,000 bytes are eight chunks; a chunk takes a few calls on either side.
  EXPECT_LE(many, 8 * 2 * 8.0);
}

TEST(Bench, BL24_TheSidesMayDifferInType) {
  const std::pair<const char*, const char*> sides[] = {{"sw4_x_f", "contiguous"},
                                                       {"vector(7000,3,5,double)", "vector(3000,7,9,double)"},
                                                       {"vector(2,3,5,int)", "indexed([1,2],[7,0],int)"}};
  for (const auto& [pattern, peer] : sides)
    EXPECT_TRUE(report(lath(pingpong(pattern, {"--peer-pattern", peer})))["summary"]["passed"]) << pattern;
}

TEST(Bench, SmallAndEmptyMessages) {
  for (const char* pattern : {"double", "contiguous(0,int)", "vector(3,2,4,int)", "short_int"})
    EXPECT_TRUE(
        report(lath(pingpong(pattern, {"--provider", "ofi:shm", "--count", "3"})))["summary"]["passed"])
        << pattern;
}

TEST(Bench, TextAndAFileOfJson) {
  const auto file =
      std::filesystem::temp_directory_path() / ("lath-bench-" + std::to_string(getpid()) + ".json");
  const Finished finished =
      lath({"bench", "pingpong", "--pattern", "comb_j", "--iterations", "5", "--json", file.string()});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("half round trip"));
  std::ifstream written(file);
  EXPECT_EQ(json::parse(written)["benchmark"], "pingpong");
  std::filesystem::remove(file);
}

TEST(Bench, ASchemeThatIsNotLegalIsRefusedWithTheReason) {
  const std::vector<std::string> forced = pingpong("sw4_y_f", {"--scheme", "contiguous"});
  for (const Finished& finished : {lath(forced), lath(pingpong("sw4_y_f", {}), {"LATH_SCHEME=contiguous"})}) {
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(
        finished.err,
        "lath: invalid argument: scheme contiguous is not legal here: 105 segments are not one block\n");
  }
  EXPECT_THAT(lath(pingpong("int", {"--scheme", "device_pack"})).err, HasSubstr("host memory"));
  EXPECT_EQ(lath(pingpong("int", {"--scheme", "contiguous"})).status, 0);
}

TEST(Bench, AllSchemesListWhyTheOthersAreNotLegal) {
  const json told = report(lath(pingpong("sw4_y_f", {"--scheme", "all", "--provider", "ofi:shm"})));
  ASSERT_FALSE(told.is_null());
  ASSERT_TRUE(told.contains("not_legal_reasons"));
  EXPECT_EQ(told["not_legal_reasons"]["contiguous"], "105 segments are not one block");
  EXPECT_EQ(told["not_legal_reasons"].size(), told["not_legal"].size());
  const Finished text = lath({"bench", "pingpong", "--pattern", "sw4_y_f", "--iterations", "5", "--scheme",
                              "all", "--provider", "ofi:shm"});
  EXPECT_THAT(text.out, HasSubstr("contiguous   not legal: 105 segments are not one block\n"));
}

TEST(Bench, SaysWhatRanWhereTheForcedSchemeIsLegalOnOneSideOnly) {
  std::vector<std::string> command{"bench", "pingpong",       "--pattern",  "sw4_y_f",  "--iterations",
                                   "5",     "--peer-pattern", "contiguous", "--scheme", "contiguous"};
  const Finished finished = lath(command);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("contiguous did not move everything: process 0 sent by "));
  EXPECT_THAT(finished.out, HasSubstr("process 1 sent by contiguous, received by contiguous\n"));
}

TEST(Bench, WithoutAGpuDeviceMemoryIsRefused) {
  const Finished finished = lath(pingpong("int", {"--memory", "device"}));
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("LATH_GPU=emulated"));
}

TEST(Bench, AWrongByteIsAFailureThatNamesIt) {
  const Finished finished = lath(pingpong("sw4_y_f", {"--memory", "device", "--provider", "ofi:shm"}),
                                 {"LATH_GPU=emulated", "LATH_EMULATOR_CORRUPT=cuMemcpyAsync:1+"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("bytes are wrong, the first at offset"));
  const json told = json::parse(finished.out);
  EXPECT_FALSE(told["summary"]["passed"]);
  EXPECT_THAT(told["results"][0]["failure"].get<std::string>(), HasSubstr("bytes are wrong"));
}

TEST(Bench, ListsTheCatalogue) {
  const Finished finished = lath({"bench", "list"});
  EXPECT_EQ(finished.status, 0);
  for (const char* name : {"wrf_x", "lammps_full", "fft2d", "sw4_y_big", "osu_vect", "tiny_1e6"})
    EXPECT_THAT(finished.out, HasSubstr(name));
}

TEST(Bench, ProviderComparison) {
  const Finished finished =
      lath({"bench", "provider", "--provider", "ofi:shm", "--seconds", "0.2", "--json", "-"});
  if (finished.err.find("not expected") != std::string::npos) GTEST_SKIP() << "built without libfabric";
  const json told = report(finished);
  ASSERT_EQ(told["sizes"].size(), 3U);
  EXPECT_TRUE(told["passed"]);
  for (const json& size : told["sizes"]) EXPECT_GT(size["bandwidth_ratio"], 0.0);
}

class UnderLauncher : public testing::TestWithParam<const char*> {};

TEST_P(UnderLauncher, TheLaunchersProcessesAreUsed) {
  const std::string launcher = GetParam();
  if (run({launcher, "--version"}).status != 0) GTEST_SKIP() << launcher << " is not installed";
  std::vector<std::string> command{launcher, "-n", "2", command_path()};
  const auto arguments = pingpong("sw4_y_f", {"--provider", "ofi:shm"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  const json told = report(run(command, {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                         "OMPI_MCA_rmaps_base_oversubscribe=1"}));
  ASSERT_FALSE(told.is_null());
  EXPECT_TRUE(told["summary"]["passed"]);
}

INSTANTIATE_TEST_SUITE_P(Bench, UnderLauncher, testing::Values("mpiexec.hydra", "mpiexec.openmpi"),
                         [](const auto& info) { return std::string(info.param).substr(8); });

}  // namespace
}  // namespace lath::cli
