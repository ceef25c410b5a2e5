#include "cli/fabric_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

/// Which settings of libfabric's `lath info` warns of.
namespace lath::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<FabricWarning> warnings(const std::map<std::string, std::string>& environment,
                                    bool keeps_registrations = true) {
  return fabric_warnings(
      [&](const char* name) {
        const auto at = environment.find(name);
        return at == environment.end() ? nullptr : at->second.c_str();
      },
      keeps_registrations);
}

struct Setting {
  const char* variable;
  const char* harmful;
  const char* harmless;
  const char* reason;
};

class Harmful : public testing::TestWithParam<Setting> {};

TEST_P(Harmful, IsToldWithItsValueAndReasonAndElseNothing) {
  const auto& [variable, harmful, harmless, reason] = GetParam();
  const auto told = warnings({{variable, harmful}, {"FI_PROVIDER", "cxi"}});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].variable, variable);
  EXPECT_EQ(told[0].value, harmful);
  EXPECT_THAT(told[0].reason, HasSubstr(reason));
  EXPECT_THAT(warnings({{variable, harmless}}), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, Harmful,
    testing::Values(Setting{"FI_MR_CACHE_MAX_COUNT", "0", "4096", "maps the memory of every operation anew"},
                    Setting{"FI_MR_CACHE_MAX_SIZE", "0", "1073741824", "cache is off"},
                    Setting{"FI_MR_CACHE_MONITOR", "disabled", "kdreg2", "cache is off"},
                    Setting{"FI_MR_CACHE_MONITOR", "memhooks", "userfaultfd", "LATH_KEEP_REGISTRATIONS=0"},
                    Setting{"FI_MR_CUDA_CACHE_MONITOR_ENABLED", "False", "1", "device memory"},
                    Setting{"FI_HMEM_CUDA_USE_DMABUF", "0", "1", "peer-to-peer"},
                    Setting{"FI_CXI_OPTIMIZED_MRS", "no", "1", "low-overhead"},
                    Setting{"FI_CXI_RX_MATCH_MODE", "software", "hybrid", "processor"},
                    Setting{"FI_CXI_DISABLE_CUDA_SYNC_MEMOPS", "1", "0", "under way"},
                    Setting{"FI_CXI_FORCE_ODP", "1", "0", "on demand"},
                    Setting{"FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD", "1000000", "4096", "slower"},
                    Setting{"FI_LOG_LEVEL", "debug", "warn", "prints"},
                    Setting{"FI_LOG_LEVEL", "TRACE", "", "prints"}));

TEST(FabricEnvironment, TwoCachesDuelOnlyWhereLathKeepsRegistrations) {
  EXPECT_THAT(warnings({{"FI_MR_CACHE_MONITOR", "memhooks"}}, false), IsEmpty());
}

TEST(FabricEnvironment, NothingSetIsNothingToWarnOf) {
  EXPECT_THAT(warnings({}), IsEmpty());
}

}  // namespace
}  // namespace lath::cli
