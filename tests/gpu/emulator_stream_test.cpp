#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/gpu/gpu_test.hpp"

namespace lath::gpu {
namespace {

using EmulatorStream = EmulatorTest;

/// Holds a stream up until opened.
class Gate {
 public:
  static void wait(void* gate) {
    auto& self = *static_cast<Gate*>(gate);
    std::unique_lock lock(self.mutex_);
    self.changed_.wait(lock, [&] { return self.open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

void count_up(void* counter) {
  ++*static_cast<std::atomic<int>*>(counter);
}

TEST_F(EmulatorStream, WorkRunsAfterTheCallReturned) {
  Stream stream(0);
  Event event(0);
  EXPECT_TRUE(is_done(event.poll())) << "an event never recorded has passed";
  Gate gate;
  const DeviceBuffer buffer(0, 64);
  const PinnedBuffer host(0, 64);
  std::fill_n(host.data(), 64, std::byte{3});
  ASSERT_EQ(driver()->cuLaunchHostFunc(stream.get(), Gate::wait, &gate), CUDA_SUCCESS);
  ASSERT_TRUE(is_done(stream.copy(buffer.data(), host.data(), 64)));
  ASSERT_TRUE(is_done(stream.record(event)));
  EXPECT_TRUE(event.poll().is_again());
  EXPECT_EQ(driver()->cuStreamQuery(stream.get()), CUDA_ERROR_NOT_READY);
  std::fill_n(host.data(), 64, std::byte{4});  // the copy has not begun, so it takes this
  gate.open();
  ASSERT_TRUE(is_done(event.synchronize()));
  EXPECT_TRUE(is_done(event.poll()));
  EXPECT_EQ(download(buffer.data(), 64), std::vector<unsigned char>(64, 4));
}

TEST_F(EmulatorStream, AStreamWaitsForAnotherOnesEvent) {
  Stream first(0);
  Stream second(0);
  Event event(0);
  Gate gate;
  std::atomic<int> count{0};
  ASSERT_EQ(driver()->cuLaunchHostFunc(first.get(), Gate::wait, &gate), CUDA_SUCCESS);
  ASSERT_TRUE(is_done(first.record(event)));
  ASSERT_TRUE(is_done(second.wait(event)));
  ASSERT_EQ(driver()->cuLaunchHostFunc(second.get(), count_up, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0);
  gate.open();
  ASSERT_TRUE(is_done(second.synchronize()));
  EXPECT_EQ(count, 1);
}

TEST_F(EmulatorStream, TheDefaultStreamTakesTurnsWithBlockingStreams) {
  CUstream blocking = nullptr;
  ASSERT_EQ(driver()->cuStreamCreate(&blocking, 0), CUDA_SUCCESS);
  Gate gate;
  std::atomic<int> count{0};
  ASSERT_EQ(driver()->cuLaunchHostFunc(blocking, Gate::wait, &gate), CUDA_SUCCESS);
  ASSERT_EQ(driver()->cuLaunchHostFunc(nullptr, count_up, &count), CUDA_SUCCESS);
  ASSERT_EQ(driver()->cuLaunchHostFunc(blocking, count_up, &count), CUDA_SUCCESS);
  Stream other(0);
  std::atomic<int> free_running{0};
  ASSERT_EQ(driver()->cuLaunchHostFunc(other.get(), count_up, &free_running), CUDA_SUCCESS);
  ASSERT_TRUE(is_done(other.synchronize()));
  EXPECT_EQ(free_running, 1) << "a non-blocking stream does not wait";
  EXPECT_EQ(count, 0);
  gate.open();
  ASSERT_EQ(driver()->cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(driver()->cuStreamDestroy_v2(blocking), CUDA_SUCCESS);
  EXPECT_EQ(driver()->cuStreamDestroy_v2(blocking), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EmulatorStream, ADestroyedStreamFinishesItsWork) {
  std::atomic<int> count{0};
  Gate gate;
  {
    Stream stream(0);
    ASSERT_EQ(driver()->cuLaunchHostFunc(stream.get(), Gate::wait, &gate), CUDA_SUCCESS);
    ASSERT_EQ(driver()->cuLaunchHostFunc(stream.get(), count_up, &count), CUDA_SUCCESS);
  }
  gate.open();
  ASSERT_EQ(driver()->cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(EmulatorStream, CopiesKeepOrderUnderRandomDelays) {
  LATH_EMULATOR_CONTROL(lath_emulator_set_delay)(200, 5);
  Stream stream(0);
  const DeviceBuffer a(0, 256);
  const DeviceBuffer b(0, 256);
  const PinnedBuffer host(0, 256);
  for (int round = 0; round < 20; ++round) {
    std::fill_n(host.data(), 256, static_cast<std::byte>(round));
    ASSERT_TRUE(is_done(stream.copy(a.data(), host.data(), 256)));
    ASSERT_TRUE(is_done(stream.copy(b.data(), a.data(), 256)));
    ASSERT_EQ(driver()->cuMemsetD8Async(pointer(a.data()), 0xff, 256, stream.get()), CUDA_SUCCESS);
    ASSERT_TRUE(is_done(stream.copy(host.data(), b.data(), 256)));
    ASSERT_TRUE(is_done(stream.synchronize()));
    EXPECT_EQ(host.data()[255], static_cast<std::byte>(round));
  }
}

TEST_F(EmulatorStream, DelaysDelay) {
  Stream stream(0);
  const auto timed = [&] {
    const auto start = std::chrono::steady_clock::now();
    const DeviceBuffer buffer(0, 16);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(driver()->cuMemsetD8Async(pointer(buffer.data()), 0, 16, stream.get()), CUDA_SUCCESS);
    }
    EXPECT_TRUE(is_done(stream.synchronize()));
    return std::chrono::steady_clock::now() - start;
  };
  LATH_EMULATOR_CONTROL(lath_emulator_set_delay)(5000, 3);
  EXPECT_GT(timed(), std::chrono::milliseconds(10)) << "20 delays of 2.5 ms on average";
}

TEST_F(EmulatorStream, HandlesAndContextsAreChecked) {
  Stream stream(0);
  Event event(0);
  CUcontext popped = nullptr;
  ASSERT_EQ(driver()->cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
  EXPECT_EQ(driver()->cuEventRecord(event.get(), stream.get()), CUDA_ERROR_INVALID_CONTEXT);
  CUdeviceptr made = 0;
  EXPECT_EQ(driver()->cuMemAlloc_v2(&made, 10), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(driver()->cuCtxPopCurrent_v2(&popped), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(driver()->cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  EXPECT_EQ(driver()->cuEventRecord(event.get(), reinterpret_cast<CUstream>(&made)),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver()->cuEventQuery(reinterpret_cast<CUevent>(&made)), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace lath::gpu
