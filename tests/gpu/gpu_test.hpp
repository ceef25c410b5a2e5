#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/driver.hpp"
#include "gpu/emulator/control.hpp"
#include "gpu/stream.hpp"

namespace lath::gpu {

inline std::string message(const Result& result) {
  return result.is_error() ? result.error().what() : result.is_again() ? "again" : "done";
}

inline ::testing::AssertionResult is_done(const Result& result) {
  return result.is_done() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << message(result);
}

/// Tests that need a GPU, real or emulated. A machine without one passes them by, saying so; where the
/// emulator was asked for, it must be there.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (availability().available) return;
    const char* const wanted = std::getenv("LATH_GPU");
    ASSERT_STRNE(wanted == nullptr ? "auto" : wanted, "emulated") << availability().reason;
    GTEST_SKIP() << "no GPU: " << availability().reason;
  }

  static CUdeviceptr pointer(const void* address) {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(address));
  }

  static void upload(void* device, const std::vector<unsigned char>& bytes) {
    ASSERT_TRUE(is_done(copy_and_wait(device, bytes.data(), bytes.size())));
  }
  static std::vector<unsigned char> download(const void* device, std::size_t bytes) {
    std::vector<unsigned char> out(bytes);
    EXPECT_TRUE(is_done(copy_and_wait(out.data(), device, bytes)));
    return out;
  }
};

/// The emulator's controls, found as a stand-in of hardware finds them.
#define LATH_EMULATOR_CONTROL(name) (*reinterpret_cast<decltype(&name)>(::lath::gpu::driver_symbol(#name)))

/// Tests of the emulator itself; a context is current. Leaves delays and injected failures off behind.
class EmulatorTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!availability().emulated) GTEST_SKIP() << "a real GPU is in use, not the emulator";
    ASSERT_EQ(driver()->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver()->cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
    pushed_ = true;
  }
  void TearDown() override {
    if (!pushed_) return;
    LATH_EMULATOR_CONTROL(lath_emulator_set_delay)(0, 1);
    CUcontext popped = nullptr;
    EXPECT_EQ(driver()->cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
    EXPECT_EQ(popped, context);
  }

  CUcontext context = nullptr;

 private:
  bool pushed_ = false;
};

}  // namespace lath::gpu
