#include <array>
#include <atomic>
#include <cstddef>

#include "gpu/stream.hpp"

namespace lath::gpu {
namespace {

constexpr std::size_t max_devices = 64;
std::array<std::atomic<CUcontext>, max_devices> contexts;

// Retained once a device and kept: a context that comes and goes would take the application's memory along.
CUresult primary_context(int device, CUcontext& out) noexcept {
  const auto index = static_cast<std::size_t>(device);
  if (driver() == nullptr) return CUDA_ERROR_NO_DEVICE;
  if (device < 0 || index >= max_devices) return CUDA_ERROR_INVALID_DEVICE;
  out = contexts[index].load(std::memory_order_acquire);
  if (out != nullptr) return CUDA_SUCCESS;
  CUdevice handle = 0;
  if (const auto code = driver()->cuDeviceGet(&handle, device); code != CUDA_SUCCESS) return code;
  if (const auto code = driver()->cuDevicePrimaryCtxRetain(&out, handle); code != CUDA_SUCCESS) return code;
  contexts[index].store(out, std::memory_order_release);
  return CUDA_SUCCESS;
}

}  // namespace

ContextGuard::ContextGuard(int device) noexcept {
  CUcontext wanted = nullptr;
  status_ = primary_context(device, wanted);
  if (status_ != CUDA_SUCCESS) return;
  CUcontext current = nullptr;
  if (driver()->cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == wanted) return;
  status_ = driver()->cuCtxPushCurrent_v2(wanted);
  pushed_ = status_ == CUDA_SUCCESS;
}

ContextGuard::~ContextGuard() {
  CUcontext popped = nullptr;
  if (pushed_) driver()->cuCtxPopCurrent_v2(&popped);
}

}  // namespace lath::gpu
