#include <gmock/gmock.h>

#include <array>

#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/launch_kernels.cu"

namespace lath::gpu {
namespace fatbins {
const void* launch_test_fatbin();
}
namespace {

using Launch = GpuTest;
using EmulatorLaunch = EmulatorTest;

const std::array host_kernels{test_fill_host_kernel, test_scale_host_kernel};

KernelImage image() {
  return {fatbins::launch_test_fatbin(), host_kernels};
}

TEST_F(Launch, AKernelOfAnApplicationRuns) {
  constexpr std::uint64_t count = 100003;
  const Module module(0, image());
  const CUfunction fill = module.function("test_fill");
  const CUfunction scale = module.function("test_scale");
  Stream stream(0);
  const DeviceBuffer numbers(0, count * sizeof(double));
  auto* const data = static_cast<double*>(numbers.data());
  {
    // Arguments are taken at the launch, so they may go at once.
    FillArguments arguments{count, data};
    ASSERT_TRUE(is_done(stream.launch(fill, count, &arguments)));
    arguments = {0, nullptr};
  }
  const ScaleArguments scaling{count, data, 0.5};
  ASSERT_TRUE(is_done(stream.launch(scale, count, &scaling)));
  ASSERT_TRUE(is_done(stream.launch(scale, 0, &scaling))) << "no work, no launch";
  ASSERT_TRUE(is_done(stream.synchronize()));
  std::vector<double> host(count);
  ASSERT_TRUE(is_done(copy_and_wait(host.data(), data, count * sizeof(double))));
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(host[i], 0.5 * static_cast<double>(i));
}

TEST_F(Launch, AnUnknownKernelIsNamed) {
  const Module module(0, image());
  try {
    (void)module.function("test_nothing");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("test_nothing"));
    EXPECT_EQ(error.domain(), Domain::cuda);
  }
}

TEST_F(EmulatorLaunch, FaithfulLaunchesRunEveryThread) {
  LATH_EMULATOR_CONTROL(lath_emulator_set_faithful)(1);
  constexpr std::uint64_t count = 5000;
  const Module module(0, image());
  Stream stream(0);
  const DeviceBuffer numbers(0, count * sizeof(double));
  const FillArguments arguments{count, static_cast<double*>(numbers.data())};
  ASSERT_TRUE(is_done(stream.launch(module.function("test_fill"), count, &arguments)));
  const ScaleArguments doubling{count, static_cast<double*>(numbers.data()), 2.0};
  ASSERT_TRUE(is_done(stream.launch(module.function("test_scale"), count, &doubling)));
  ASSERT_TRUE(is_done(stream.synchronize()));
  std::vector<double> host(count);
  ASSERT_TRUE(is_done(copy_and_wait(host.data(), numbers.data(), count * sizeof(double))));
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(host[i], 2.0 * static_cast<double>(i)) << "once each";
  LATH_EMULATOR_CONTROL(lath_emulator_set_faithful)(0);
}

TEST_F(EmulatorLaunch, ImagesForRealGpusAreRefused) {
  const std::array<char, 64> fatbin{};
  CUmodule module = nullptr;
  EXPECT_EQ(driver()->cuModuleLoadData(&module, fatbin.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

}  // namespace
}  // namespace lath::gpu
