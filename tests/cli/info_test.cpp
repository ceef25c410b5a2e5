#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"

namespace lath::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json info(const std::vector<std::string>& environment = {}) {
  const Finished finished = lath({"info", "--json"}, environment);
  EXPECT_EQ(finished.status, 0) << finished.err;
  return json::parse(finished.out);
}

json named(const json& list, const std::string& name) {
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const json& entry) { return entry["name"] == name; });
  return at == list.end() ? json() : *at;
}

TEST(Info, SaysEverything) {
  const json told = info();
  EXPECT_EQ(told["version"], "0.1.0");
  for (const char* key : {"build", "gpu", "providers", "worker", "variables", "unknown_variables"})
    EXPECT_TRUE(told.contains(key)) << key;
  EXPECT_FALSE(told["gpu"]["available"]);
  EXPECT_NE(told["gpu"]["reason"], "");
}

TEST(Info, ProvidersHaveLimitsOrAReason) {
  const json told = info();
  for (const json& provider : told["providers"]) {
    if (!provider["viable"]) {
      EXPECT_NE(provider["reason"], "") << provider;
      continue;
    }
    EXPECT_GE(provider["limits"]["send_list"], 1) << provider;
    EXPECT_GT(provider["limits"]["max_message"], 0) << provider;
  }
}

TEST(Info, BL48_AWorkersMemoryHasBounds) {
  const json told = info();
  if (told["providers"].empty()) GTEST_SKIP() << "no provider is built in";
  ASSERT_TRUE(told["worker"].contains("memory")) << told["worker"];
  EXPECT_FALSE(told["worker"]["memory"].empty());
  for (const json& item : told["worker"]["memory"]) EXPECT_NE(item["bound"], "") << item;
}

TEST(Info, VariablesHaveTypeDefaultValueAndMeaning) {
  const json told = info({"LATH_CHUNK_BYTES=1M"});
  for (const json& variable : told["variables"])
    for (const char* key : {"name", "type", "default", "value", "set", "meaning"})
      EXPECT_TRUE(variable.contains(key)) << variable;
  const json chunk = named(told["variables"], "LATH_CHUNK_BYTES");
  EXPECT_EQ(chunk["value"], "1M");
  EXPECT_EQ(chunk["default"], "512K");
  EXPECT_TRUE(chunk["set"]);
}

TEST(Info, UnknownVariablesGetTheNearestName) {
  const json told = info({"LATH_PROVIDR=ofi"});
  ASSERT_FALSE(told["unknown_variables"].empty());
  EXPECT_EQ(named(told["unknown_variables"], "LATH_PROVIDR")["nearest"], "LATH_PROVIDER");
  EXPECT_THAT(lath({"info"}, {"LATH_PROVIDR=ofi"}).out, HasSubstr("LATH_PROVIDR"));
}

TEST(Info, SettingsOfLibfabricThatHurtAreToldWithTheReason) {
  EXPECT_TRUE(info()["libfabric_warnings"].empty());
  const json told = info({"FI_MR_CACHE_MAX_COUNT=0"})["libfabric_warnings"];
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]["name"], "FI_MR_CACHE_MAX_COUNT");
  EXPECT_THAT(lath({"info"}, {"FI_MR_CACHE_MAX_COUNT=0"}).out,
              HasSubstr("FI_MR_CACHE_MAX_COUNT = '0': libfabric's registration cache is off"));
}

TEST(Info, AValueThatCannotBeReadIsShownAsSuch) {
  const json told = info({"LATH_EAGER_BYTES=few"});
  EXPECT_THAT(named(told["variables"], "LATH_EAGER_BYTES")["problem"].get<std::string>(), HasSubstr("few"));
}

TEST(Info, TheEmulatorIsNamedAsOne) {
  const json told = info({"LATH_GPU=emulated"});
  EXPECT_TRUE(told["gpu"]["available"]) << told["gpu"];
  EXPECT_TRUE(told["gpu"]["emulated"]);
  EXPECT_THAT(lath({"info"}, {"LATH_GPU=emulated"}).out, HasSubstr("(emulated)"));
}

TEST(Info, SeveralDevicesAreNotAllTheFirst) {
  EXPECT_THAT(lath({"info"}, {"LATH_GPU=emulated", "LATH_EMULATOR_DEVICES=2"}).out,
              HasSubstr("  2 x Lath emulated GPU (emulated)\n"));
}

}  // namespace
}  // namespace lath::cli
