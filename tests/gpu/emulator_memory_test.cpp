#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <set>

#include "tests/gpu/gpu_test.hpp"

namespace lath::gpu {
namespace {

using EmulatorMemory = EmulatorTest;
using EmulatorMemoryDeathTest = EmulatorTest;

TEST_F(EmulatorMemoryDeathTest, HostAccessToDeviceMemoryDies) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const DeviceBuffer buffer(0, 100);
  EXPECT_DEATH(*static_cast<volatile char*>(buffer.data()) = 1, "");
  EXPECT_DEATH([[maybe_unused]] const char read = *static_cast<volatile char*>(buffer.data()), "");
}

TEST_F(EmulatorMemory, AliasReachesTheSameBytes) {
  const DeviceBuffer buffer(0, 5000);
  auto* const alias = static_cast<char*>(LATH_EMULATOR_CONTROL(lath_emulator_alias)(buffer.data(), 5000));
  ASSERT_NE(alias, nullptr);
  std::memset(alias, 7, 5000);
  EXPECT_EQ(download(buffer.data(), 5000), std::vector<unsigned char>(5000, 7));
  EmulatedWindow window;
  LATH_EMULATOR_CONTROL(lath_emulator_window)(&window);
  EXPECT_EQ(reinterpret_cast<std::intptr_t>(alias) - reinterpret_cast<std::intptr_t>(buffer.data()),
            window.shift);
  EXPECT_EQ(LATH_EMULATOR_CONTROL(lath_emulator_alias)(buffer.data(), 1 << 20), nullptr) << "past its pages";
  int host = 0;
  EXPECT_EQ(LATH_EMULATOR_CONTROL(lath_emulator_alias)(&host, sizeof host), nullptr);
}

TEST_F(EmulatorMemory, DeviceMemoryIsAlignedNoFurtherThan512) {
  for (const std::size_t bytes : {1U, 4096U, 65536U, 1U << 20}) {
    const DeviceBuffer buffer(0, bytes);
    EXPECT_EQ(pointer(buffer.data()) % 512, 0U);
    EXPECT_NE(pointer(buffer.data()) % 65536, 0U);
  }
}

TEST_F(EmulatorMemory, CopiesAreCheckedAgainstTheAllocation) {
  const DeviceBuffer buffer(0, 100);
  std::array<char, 200> host{};
  EXPECT_EQ(driver()->cuMemcpyDtoH_v2(host.data(), pointer(buffer.data()), 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver()->cuMemcpyHtoD_v2(pointer(buffer.data()) + 50, host.data(), 51),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver()->cuMemcpyHtoD_v2(pointer(buffer.data()) + 50, host.data(), 50), CUDA_SUCCESS);
}

TEST_F(EmulatorMemory, UsedMemoryIsAccountedAndBounded) {
  std::size_t before = 0;
  std::size_t now = 0;
  std::size_t total = 0;
  ASSERT_EQ(driver()->cuMemGetInfo_v2(&before, &total), CUDA_SUCCESS);
  {
    const DeviceBuffer buffer(0, 1 << 20);
    ASSERT_EQ(driver()->cuMemGetInfo_v2(&now, &total), CUDA_SUCCESS);
    EXPECT_EQ(before - now, std::size_t{1} << 20);
  }
  ASSERT_EQ(driver()->cuMemGetInfo_v2(&now, &total), CUDA_SUCCESS);
  EXPECT_EQ(before, now);
  CUdeviceptr made = 0;
  EXPECT_EQ(driver()->cuMemAlloc_v2(&made, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver()->cuMemAlloc_v2(&made, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver()->cuMemFree_v2(12345), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver()->cuMemFree_v2(0), CUDA_SUCCESS);
}

TEST_F(EmulatorMemory, BufferIdsAreNeverGivenTwice) {
  std::set<std::uint64_t> ids;
  std::set<const void*> addresses;
  for (int i = 0; i < 20; ++i) {
    const DeviceBuffer buffer(0, 4096);
    std::uint64_t id = 0;
    ASSERT_EQ(driver()->cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, pointer(buffer.data())),
              CUDA_SUCCESS);
    ids.insert(id);
    addresses.insert(buffer.data());
  }
  EXPECT_EQ(ids.size(), 20U);
  EXPECT_EQ(addresses.size(), 1U) << "a freed address is used again at once";
}

struct Attributes {
  CUmemorytype type{};
  unsigned managed = 9;
  int device = 9;
  CUdeviceptr base = 9;
  std::size_t bytes = 9;
  CUmemoryPool pool = nullptr;
  unsigned ipc = 9;
};

Attributes attributes_of(CUdeviceptr pointer) {
  Attributes out;
  std::array which{CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                   CU_POINTER_ATTRIBUTE_IS_MANAGED,
                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                   CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                   CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                   CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE};
  std::array<void*, 7> values{&out.type,  &out.managed, &out.device, &out.base,
                              &out.bytes, &out.pool,    &out.ipc};
  EXPECT_EQ(driver()->cuPointerGetAttributes(7, which.data(), values.data(), pointer), CUDA_SUCCESS);
  return out;
}

TEST_F(EmulatorMemory, AttributesOfEachKind) {
  const DeviceBuffer device(0, 1000);
  auto found = attributes_of(pointer(device.data()) + 999);
  EXPECT_EQ(found.type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(found.managed, 0U);
  EXPECT_EQ(found.device, 0);
  EXPECT_EQ(found.base, pointer(device.data()));
  EXPECT_EQ(found.bytes, 1000U);
  EXPECT_EQ(found.pool, nullptr);
  EXPECT_EQ(found.ipc, 1U);

  const PinnedBuffer pinned(0, 1000);
  found = attributes_of(pointer(pinned.data()) + 1);
  EXPECT_EQ(found.type, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(found.base, pointer(pinned.data()));
  CUdeviceptr mapped = 0;
  EXPECT_EQ(driver()->cuMemHostGetDevicePointer_v2(&mapped, pinned.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(mapped, pointer(pinned.data()));

  CUdeviceptr managed = 0;
  ASSERT_EQ(driver()->cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL_FLAG), CUDA_SUCCESS);
  found = attributes_of(managed);
  EXPECT_EQ(found.type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(found.managed, 1U);
  EXPECT_EQ(found.ipc, 0U);
  std::memset(reinterpret_cast<void*>(managed), 1, 1000);
  EXPECT_EQ(driver()->cuMemFree_v2(managed), CUDA_SUCCESS);
}

TEST_F(EmulatorMemory, AttributesOfUnknownMemoryAreAsTheDriverGivesThem) {
  int host = 0;
  const auto found = attributes_of(pointer(&host));
  EXPECT_EQ(found.type, CUmemorytype{});
  EXPECT_EQ(found.device, invalid_device);
  EXPECT_EQ(found.base, 0U);
  EXPECT_EQ(found.bytes, 0U);
  std::uint64_t id = 0;
  EXPECT_EQ(driver()->cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, pointer(&host)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver()->cuMemGetAddressRange_v2(nullptr, nullptr, pointer(&host)), CUDA_ERROR_NOT_FOUND);
}

TEST_F(EmulatorMemory, BL35_PoolMemoryIsKnownAndCannotBeExported) {
  Stream stream(0);
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(driver()->cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(driver()->cuMemAllocFromPoolAsync(&memory, 8192, pool, stream.get()), CUDA_SUCCESS);
  EXPECT_EQ(attributes_of(memory).pool, pool);
  EXPECT_EQ(attributes_of(memory).ipc, 0U);
  CUipcMemHandle handle{};
  EXPECT_EQ(driver()->cuIpcGetMemHandle(&handle, memory), CUDA_ERROR_INVALID_VALUE);
  int file = -1;
  EXPECT_EQ(driver()->cuMemGetHandleForAddressRange(&file, memory & ~CUdeviceptr{4095}, 4096,
                                                    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(driver()->cuMemFreeAsync(memory, stream.get()), CUDA_SUCCESS);
  ASSERT_TRUE(is_done(stream.synchronize()));
  EXPECT_EQ(attributes_of(memory).base, 0U) << "freed once the stream got there";
}

TEST_F(EmulatorMemory, DmaBufExportSharesThePages) {
  const DeviceBuffer buffer(0, 10000);
  const auto page = static_cast<CUdeviceptr>(sysconf(_SC_PAGESIZE));
  const auto first = pointer(buffer.data()) / page * page;
  const auto end = (pointer(buffer.data()) + 10000 + page - 1) / page * page;
  int file = -1;
  ASSERT_EQ(driver()->cuMemGetHandleForAddressRange(&file, first, end - first,
                                                    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
            CUDA_SUCCESS);
  void* const view = mmap(nullptr, end - first, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(view, MAP_FAILED);
  std::memset(static_cast<char*>(view) + (pointer(buffer.data()) - first), 5, 10000);
  EXPECT_EQ(download(buffer.data(), 10000), std::vector<unsigned char>(10000, 5));
  munmap(view, end - first);
  close(file);
  EXPECT_EQ(driver()->cuMemGetHandleForAddressRange(&file, pointer(buffer.data()), page,
                                                    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
            CUDA_ERROR_INVALID_VALUE)
      << "not on a page";
}

}  // namespace
}  // namespace lath::gpu
