// One process has one answer, so meson runs this with several environments; EXPECTED_GPU says which answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "gpu/packer.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace lath::gpu {
namespace {

std::string expected() {
  const char* const value = std::getenv("EXPECTED_GPU");
  return value == nullptr ? "" : value;
}

TEST(Availability, IsWhatTheEnvironmentAsksFor) {
  const auto& gpu = availability();
  if (expected().starts_with("emulated")) {
    EXPECT_TRUE(gpu.available) << gpu.reason;
    EXPECT_TRUE(gpu.emulated);
    EXPECT_EQ(std::to_string(gpu.device_count), expected().substr(8));
    EXPECT_EQ(gpu.device_name, "Lath emulated GPU");
    EXPECT_EQ(gpu.device_names,
              std::vector<std::string>(static_cast<std::size_t>(gpu.device_count), "Lath emulated GPU"));
    EXPECT_NE(driver(), nullptr);
  } else {
    EXPECT_FALSE(gpu.available);
    EXPECT_FALSE(gpu.emulated);
    EXPECT_EQ(driver(), nullptr);
    EXPECT_THAT(gpu.reason, testing::HasSubstr(expected()));
  }
}

TEST(Availability, WithoutAGpuEverythingIsHostMemoryAndSetUpSaysWhy) {
  if (availability().available) GTEST_SKIP() << "this environment has a GPU";
  int host = 0;
  EXPECT_EQ(memory_info(&host).kind, MemoryKind::host);
  EXPECT_EQ(driver_symbol("cuInit"), nullptr);
  EXPECT_THROW(DeviceBuffer(0, 16), Error);
  EXPECT_THROW(PinnedBuffer(0, 16), Error);
  EXPECT_THROW(Packer(0), Error);
  EXPECT_TRUE(copy_and_wait(&host, &host, 0).is_done());
  EXPECT_TRUE(copy_and_wait(&host, &host, sizeof host).is_error());
  try {
    Stream stream(0);
    FAIL() << "a stream without a GPU";
  } catch (const Error& error) {
    EXPECT_EQ(error.lath_code(), Code::not_supported);
    EXPECT_THAT(error.what(), testing::HasSubstr(availability().reason));
  }
}

}  // namespace
}  // namespace lath::gpu
