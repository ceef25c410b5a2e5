#include <fmt/format.h>

#include "gpu/device.hpp"
#include "gpu/driver.hpp"
#include "gpu/stream.hpp"
#include "transport/c_api.hpp"

using namespace lath;
using namespace lath::gpu;
using namespace lath::transport::c_api;

namespace {

void need_gpu() {
  if (!gpu::availability().available)
    throw Error(Code::not_supported, fmt::format("no GPU is in use: {}", gpu::availability().reason));
}

}  // namespace

int lath_gpu_available(void) {
  const lath_status status = guarded([] {
    need_gpu();
    return LATH_OK;
  });
  return status == LATH_OK ? 1 : 0;
}

lath_status lath_gpu_alloc(size_t bytes, void** address) {
  return guarded([&] {
    *not_null(address, "address") = nullptr;
    need_gpu();
    if (bytes == 0) refuse("bytes", "is 0");
    const gpu::ContextGuard guard(0);
    CUdeviceptr memory = 0;
    if (const auto code = gpu::driver()->cuMemAlloc_v2(&memory, bytes); code != CUDA_SUCCESS)
      throw gpu::driver_error(static_cast<int>(code),
                              fmt::format("allocating {} bytes of GPU memory", bytes));
    *address = reinterpret_cast<void*>(memory);
    return LATH_OK;
  });
}

lath_status lath_gpu_free(void* address) {
  return guarded([&] {
    if (address == nullptr) return LATH_OK;
    need_gpu();
    const gpu::MemoryInfo info = gpu::memory_info(address);
    if (info.kind != gpu::MemoryKind::device || info.base != reinterpret_cast<std::uintptr_t>(address))
      refuse("address", "is not the start of GPU memory");
    const gpu::ContextGuard guard(info.device);
    if (const auto code = gpu::driver()->cuMemFree_v2(reinterpret_cast<CUdeviceptr>(address));
        code != CUDA_SUCCESS)
      throw gpu::driver_error(static_cast<int>(code), "freeing GPU memory");
    return LATH_OK;
  });
}

lath_status lath_gpu_copy(void* destination, const void* source, size_t bytes) {
  return guarded([&] {
    if (bytes == 0) return LATH_OK;
    not_null(destination, "destination");
    not_null(source, "source");
    return status_of(gpu::copy_and_wait(destination, source, bytes));
  });
}
