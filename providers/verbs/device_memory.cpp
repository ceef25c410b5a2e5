#include "providers/verbs/device_memory.hpp"

#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/unique_handle.hpp"
#include "gpu/device.hpp"
#include "gpu/driver.hpp"
#include "providers/verbs/failure.hpp"

namespace lath::providers::verbs {
namespace {

struct FileTraits {
  using type = int;
  static constexpr int null() { return -1; }
  static void destroy(int file) noexcept { close(file); }
};
using File = unique_handle<FileTraits>;

struct Pages {
  std::uintptr_t begin;
  std::size_t bytes;
};

// dma-buf knows whole pages alone.
Pages pages_of(const void* address, std::size_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t first = begin / page * page;
  return {first, (begin + bytes - first + page - 1) / page * page};
}

MemoryRegionHandle by_dma_buf(const DeviceMemoryCalls& calls, void* address, std::size_t bytes, int access) {
  // Some drivers crash when they are asked for it.
  if (gpu::memory_info(address).pool)
    throw Error(Code::not_supported, "memory from a stream-ordered pool is not exported");
  const Pages pages = pages_of(address, bytes);
  const File file(calls.export_dma_buf(pages.begin, pages.bytes));
  return calls.register_dma_buf(file.get(), pages.bytes, pages.begin, access);
}

MemoryRegionHandle by_peer_memory(const DeviceMemoryCalls& calls, void* address, std::size_t bytes,
                                  int access) {
  return calls.register_address(address, bytes, access);
}

MemoryRegionHandle by_emulator(const DeviceMemoryCalls& calls, void* address, std::size_t bytes, int access) {
  void* mapped = calls.alias(address, bytes);
  if (mapped == nullptr) throw Error(Code::not_supported, "the memory is not the emulator's");
  return calls.register_as(mapped, bytes, reinterpret_cast<std::uintptr_t>(address), access);
}

struct Step {
  DeviceWay way;
  const char* name;
  MemoryRegionHandle (*attempt)(const DeviceMemoryCalls&, void*, std::size_t, int);
};
constexpr Step steps[] = {{DeviceWay::dma_buf, "dma-buf", by_dma_buf},
                          {DeviceWay::peer_memory, "peer memory", by_peer_memory},
                          {DeviceWay::emulator, "the emulator's mapping", by_emulator}};

int export_dma_buf(std::uintptr_t begin, std::size_t bytes) {
  using namespace gpu;
  const DriverTable* driver = gpu::driver();
  if (driver == nullptr) throw Error(Code::not_supported, "no GPU is in use");
  int file = -1;
  const auto code = driver->cuMemGetHandleForAddressRange(&file, static_cast<CUdeviceptr>(begin), bytes,
                                                          CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  if (code != CUDA_SUCCESS) throw Error(Domain::cuda, static_cast<int>(code), "exporting device memory");
  return file;
}

void* alias(const void* address, std::size_t bytes) {
  using Alias = void* (*)(const void*, std::size_t);
  if (!gpu::availability().emulated) return nullptr;
  const auto ask = reinterpret_cast<Alias>(gpu::driver_symbol("lath_emulator_alias"));
  return ask != nullptr ? ask(address, bytes) : nullptr;
}

}  // namespace

DeviceMemoryCalls device_memory_calls(const Device& device) {
  ibv_pd* const domain = device.domain.get();
  DeviceMemoryCalls calls;
  calls.export_dma_buf = export_dma_buf;
  calls.register_dma_buf = [domain](int file, std::size_t bytes, std::uintptr_t begin, int access) {
    if (library()->reg_dmabuf_mr == nullptr)
      throw Error(Code::not_supported, "this libibverbs has no ibv_reg_dmabuf_mr");
    return MemoryRegionHandle(
        check_object(library()->reg_dmabuf_mr(domain, 0, bytes, begin, file, access), "ibv_reg_dmabuf_mr"));
  };
  calls.register_address = [domain](void* address, std::size_t bytes, int access) {
    return MemoryRegionHandle(
        check_object((library()->reg_mr)(domain, address, bytes, access), "ibv_reg_mr"));
  };
  calls.alias = alias;
  calls.register_as = [domain](void* mapped, std::size_t bytes, std::uintptr_t as, int access) {
    if (library()->reg_mr_iova == nullptr)
      throw Error(Code::not_supported, "this libibverbs has no ibv_reg_mr_iova");
    return MemoryRegionHandle(
        check_object((library()->reg_mr_iova)(domain, mapped, bytes, as, access), "ibv_reg_mr_iova"));
  };
  return calls;
}

DeviceRegistration register_device_memory(const DeviceMemoryCalls& calls, void* address, std::size_t bytes,
                                          int access) {
  std::string reasons;
  for (const Step& step : steps) {
    try {
      return {step.attempt(calls, address, bytes, access), step.way};
    } catch (const Error& error) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(step.name) + ": " + error.what();
    }
  }
  throw Error(Code::not_supported, reasons);
}

}  // namespace lath::providers::verbs
