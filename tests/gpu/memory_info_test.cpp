#include <sys/mman.h>

#include <thread>

#include "tests/gpu/gpu_test.hpp"

namespace lath::gpu {
namespace {

using MemoryInformation = GpuTest;
using EmulatedMemoryInformation = EmulatorTest;

TEST_F(MemoryInformation, BL35_KindOfEachAllocator) {
  const DeviceBuffer device(0, 1000);
  auto found = memory_info(static_cast<char*>(device.data()) + 999);
  EXPECT_EQ(found.kind, MemoryKind::device);
  EXPECT_EQ(found.base, reinterpret_cast<std::uintptr_t>(device.data()));
  EXPECT_EQ(found.bytes, 1000U);
  EXPECT_EQ(found.device, 0);
  EXPECT_FALSE(found.pool);
  EXPECT_NE(found.buffer_id, 0U);

  const PinnedBuffer pinned(0, 1000);
  found = memory_info(pinned.data());
  EXPECT_EQ(found.kind, MemoryKind::pinned);
  EXPECT_EQ(found.device, -1);

  const ContextGuard guard(0);
  CUdeviceptr managed = 0;
  ASSERT_EQ(driver()->cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL_FLAG), CUDA_SUCCESS);
  EXPECT_EQ(memory_info(reinterpret_cast<void*>(managed)).kind, MemoryKind::managed);
  EXPECT_EQ(driver()->cuMemFree_v2(managed), CUDA_SUCCESS);

  Stream stream(0);
  CUdeviceptr pool = 0;
  ASSERT_EQ(driver()->cuMemAllocAsync(&pool, 1000, stream.get()), CUDA_SUCCESS);
  found = memory_info(reinterpret_cast<void*>(pool));
  EXPECT_EQ(found.kind, MemoryKind::device);
  EXPECT_TRUE(found.pool);
  ASSERT_EQ(driver()->cuMemFreeAsync(pool, stream.get()), CUDA_SUCCESS);
  EXPECT_TRUE(is_done(stream.synchronize()));
}

TEST_F(MemoryInformation, HostMemoryOfAllSortsIsHost) {
  static int of_the_program = 0;
  int on_the_stack = 0;
  const auto on_the_heap = std::make_unique<int>();
  for (const void* address :
       {static_cast<const void*>(&of_the_program), static_cast<const void*>(&on_the_stack),
        static_cast<const void*>(on_the_heap.get()), static_cast<const void*>(nullptr),
        reinterpret_cast<const void*>(std::uintptr_t{16})}) {
    const auto found = memory_info(address);
    EXPECT_EQ(found.kind, MemoryKind::host);
    EXPECT_EQ(found.buffer_id, 0U);
    EXPECT_EQ(found.bytes, 0U);
  }
}

TEST_F(MemoryInformation, BL36_AFreedAddressIsNewMemoryOrHostMemory) {
  for (int i = 0; i < 100; ++i) {
    const void* address = nullptr;
    std::uint64_t id = 0;
    {
      const DeviceBuffer buffer(0, std::size_t{4} << 20);
      address = buffer.data();
      const auto found = memory_info(address);
      ASSERT_EQ(found.kind, MemoryKind::device);
      id = found.buffer_id;
    }
    EXPECT_EQ(memory_info(address).kind, MemoryKind::host);
    const DeviceBuffer other(0, std::size_t{2} << 20);
    EXPECT_NE(memory_info(other.data()).buffer_id, id);
    EXPECT_EQ(memory_info(other.data()).bytes, std::size_t{2} << 20);
  }
}

TEST_F(MemoryInformation, BL36_AHostAddressThatWasPinnedBefore) {
  void* address = nullptr;
  {
    const PinnedBuffer pinned(0, 1 << 16);
    address = pinned.data();
    ASSERT_EQ(memory_info(address).kind, MemoryKind::pinned);
  }
  void* const host = mmap(address, 1 << 16, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT_EQ(memory_info(address).kind, MemoryKind::host);
  if (host != MAP_FAILED) munmap(host, 1 << 16);
}

TEST_F(MemoryInformation, BL40_AThreadWithoutAContextFindsTheDeviceAndKeepsNone) {
  const DeviceBuffer buffer(0, 4096);
  std::thread([&] {
    CUcontext current = nullptr;
    EXPECT_EQ(memory_info(buffer.data()).kind, MemoryKind::device);
    EXPECT_TRUE(is_done(copy_and_wait(buffer.data(), buffer.data(), 4096)));
    EXPECT_EQ(driver()->cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
  }).join();
}

TEST_F(MemoryInformation, BL40_TheCallersContextStaysCurrent) {
  const int last = availability().device_count - 1;
  CUcontext callers = nullptr;
  ASSERT_EQ(driver()->cuDevicePrimaryCtxRetain(&callers, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver()->cuCtxPushCurrent_v2(callers), CUDA_SUCCESS);
  {
    const DeviceBuffer buffer(last, 4096);
    EXPECT_EQ(memory_info(buffer.data()).device, last);
    Stream stream(last);
    Event event(last);
    EXPECT_TRUE(is_done(stream.copy(buffer.data(), buffer.data(), 4096)));
    EXPECT_TRUE(is_done(stream.record(event)));
    EXPECT_TRUE(is_done(stream.synchronize()));
    const ContextGuard guard(last);
  }
  EXPECT_EQ(ContextGuard(99).status(), CUDA_ERROR_INVALID_DEVICE);
  CUcontext popped = nullptr;
  EXPECT_EQ(driver()->cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, callers);
  EXPECT_EQ(driver()->cuCtxPopCurrent_v2(&popped), CUDA_ERROR_INVALID_CONTEXT)
      << "nothing else was left behind";
}

TEST_F(EmulatedMemoryInformation, OneDriverQueryAUse) {
  auto& calls = LATH_EMULATOR_CONTROL(lath_emulator_calls);
  const DeviceBuffer buffer(0, 4096);
  int host = 0;
  EXPECT_EQ(memory_info(buffer.data()).kind, MemoryKind::device);
  const auto counted = driver_counts().calls.load();
  const auto before = calls("cuPointerGetAttributes");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(memory_info(static_cast<char*>(buffer.data()) + i).kind, MemoryKind::device);
    EXPECT_EQ(memory_info(&host).kind, MemoryKind::host);
  }
  EXPECT_EQ(calls("cuPointerGetAttributes") - before, 20U);
  EXPECT_EQ(driver_counts().calls.load(), counted);
}

TEST_F(EmulatedMemoryInformation, ADriverThatWantsAContextGetsOne) {
  const DeviceBuffer buffer(0, 4096);
  std::thread([&] {
    LATH_EMULATOR_CONTROL(lath_emulator_fail)("cuPointerGetAttributes", 1, 1, CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(memory_info(buffer.data()).kind, MemoryKind::device);
    CUcontext current = nullptr;
    EXPECT_EQ(driver()->cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
  }).join();
}

}  // namespace
}  // namespace lath::gpu
