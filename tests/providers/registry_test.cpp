#include "providers/registry.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "base/config.hpp"

namespace lath::providers {
namespace {

/// Sets LATH_PROVIDER for one test.
class ProviderVariable {
 public:
  explicit ProviderVariable(const char* value) {
    setenv("LATH_PROVIDER", value, 1);
    config::reload();
  }
  ~ProviderVariable() {
    unsetenv("LATH_PROVIDER");
    config::reload();
  }
  ProviderVariable(const ProviderVariable&) = delete;
  ProviderVariable& operator=(const ProviderVariable&) = delete;
};

std::vector<std::string> offered() {
  std::vector<std::string> names;
  for (const Family& family : families())
    for (std::string& name : family.candidates()) names.push_back(std::move(name));
  return names;
}

bool offers(const std::string& name) {
  const auto names = offered();
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Registry, ProbeTellsLimitsOrReasonOfEveryCandidate) {
  const auto candidates = probe_all();
  ASSERT_EQ(candidates.size(), offered().size());
  for (const Candidate& candidate : candidates) {
    if (!candidate.viable) {
      EXPECT_FALSE(candidate.reason.empty()) << candidate.name;
      continue;
    }
    EXPECT_GE(candidate.limits.send_list, 1U) << candidate.name;
    EXPECT_GE(candidate.limits.max_control, 4096U) << candidate.name;
    EXPECT_GT(candidate.limits.queue_depth, 0U) << candidate.name;
    EXPECT_GT(candidate.memory_bytes, 0U) << candidate.name;
    EXPECT_NE(candidate.limits.device_memory, !candidate.limits.device_memory_reason.empty())
        << candidate.name;
  }
}

TEST(Registry, OpensTheFirstThatWorks) {
  if (offered().empty()) GTEST_SKIP() << "no provider is offered here";
  EXPECT_EQ(open()->name().find("ofi:"), 0U);
  EXPECT_EQ(open("ofi")->name().find("ofi:"), 0U);
}

TEST(Registry, TheVariableChooses) {
  if (!offers("ofi:shm")) GTEST_SKIP() << "ofi:shm is not offered here";
  const ProviderVariable variable("ofi:shm");
  EXPECT_EQ(open()->name(), "ofi:shm");
}

TEST(Registry, WhatTheCallerNamesComesBeforeTheVariable) {
  if (!offers("ofi:tcp")) GTEST_SKIP() << "ofi:tcp is not offered here";
  const ProviderVariable variable("ofi:shm");
  EXPECT_EQ(open("ofi:tcp")->name(), "ofi:tcp");
}

TEST(Registry, UnknownNamesAreParseErrorsThatListWhatThereIs) {
  for (const char* name : {"nic", "nic:fast", "ofi:nothing", ":"}) {
    try {
      open(name);
      ADD_FAILURE() << name << " opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.lath_code(), Code::parse) << name;
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

TEST(Registry, ATransportThatUcxDoesNotHaveIsNamed) {
  if (!offers("ucx:tcp")) GTEST_SKIP() << "ucx is not offered here";
  try {
    open("ucx:bogus");
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.lath_code(), Code::not_supported);
    EXPECT_NE(std::string(error.what()).find("bogus"), std::string::npos) << error.what();
  }
}

TEST(Registry, RealFabricsComeBeforeTcpAndThatBeforeNodeLocalOnes) {
  const auto names = offered();
  const auto place = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  if (!offers("ofi:tcp") || !offers("ofi:shm"))
    GTEST_SKIP() << "ofi:tcp and ofi:shm are not both offered here";
  EXPECT_LT(place("ofi:tcp"), place("ofi:shm"));
  if (offers("ofi:sockets")) {
    const auto ofi = [](const std::string& name) { return name.starts_with("ofi:"); };
    EXPECT_EQ(*std::find_if(names.rbegin(), names.rend(), ofi), "ofi:sockets");
  }
}

/// How many of the terminating signals are handled after opening ofi:tcp.
int handled_signals() {
  static_cast<void>(open("ofi:tcp"));
  int handled = 0;
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    handled += action.sa_handler == SIG_DFL ? 0 : 1;
  }
  return handled;
}

TEST(RegistryDeathTest, OpeningLeavesTheSignalsAlone) {
  const std::vector<std::string> names = offered();
  if (std::find(names.begin(), names.end(), "ofi:tcp") == names.end())
    GTEST_SKIP() << "ofi:tcp is not offered";
  // In a process of its own: libfabric's shm provider, which other tests open, does handle them, to remove
  // its files.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(handled_signals()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lath::providers
