#include <fmt/format.h>

#include "gpu/driver_check.hpp"
#include "gpu/stream.hpp"

namespace lath::gpu {
namespace {

void need_gpu(const char* what) {
  if (driver() == nullptr)
    throw Error(Code::not_supported,
                fmt::format("allocating {} memory: no GPU is in use ({})", what, availability().reason));
}

}  // namespace

void DeviceMemoryTraits::destroy(type memory) noexcept {
  driver()->cuMemFree_v2(memory);
}

void PinnedMemoryTraits::destroy(type memory) noexcept {
  driver()->cuMemFreeHost(memory);
}

DeviceBuffer::DeviceBuffer(int device, std::size_t bytes) : bytes_(bytes) {
  need_gpu("device");
  if (bytes == 0) return;
  const ContextGuard guard(device);
  throw_unless_success(guard.status(), fmt::format("using device {}", device));
  throw_unless_success(driver()->cuMemAlloc_v2(handle_.receive(), bytes),
                       fmt::format("allocating {} bytes on device {}", bytes, device));
}

PinnedBuffer::PinnedBuffer(int device, std::size_t bytes) : bytes_(bytes) {
  need_gpu("pinned host");
  if (bytes == 0) return;
  const ContextGuard guard(device);
  throw_unless_success(guard.status(), fmt::format("using device {}", device));
  throw_unless_success(driver()->cuMemHostAlloc(handle_.receive(), bytes,
                                                CU_HOST_ALLOC_PORTABLE_FLAG | CU_HOST_ALLOC_DEVICEMAP_FLAG),
                       fmt::format("allocating {} bytes of pinned host memory", bytes));
}

}  // namespace lath::gpu
