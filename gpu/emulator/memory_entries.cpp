#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"

namespace lath::gpu {
namespace {

using emulator::Allocated;
using emulator::call;
using emulator::current_device;
using emulator::Entry;
using emulator::process;

CUresult allocate(Allocated how, CUdeviceptr* pointer, std::size_t bytes) {
  const auto* const device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return process().memory.allocate(how, bytes, device->ordinal, *pointer);
}

CUresult allocate_host(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr made = 0;
  const auto code = allocate(Allocated::pinned, &made, bytes);
  if (code == CUDA_SUCCESS) *pointer = reinterpret_cast<void*>(made);
  return code;
}

// As the real driver: freeing waits for all work of the device.
CUresult release(CUdeviceptr pointer, bool host) {
  if (pointer == 0) return CUDA_SUCCESS;
  if (const auto found = process().memory.find(pointer)) process().synchronize(found->device);
  return process().memory.release(pointer, host);
}

CUresult allocate_in_stream(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  auto* const device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (process().stream(stream, *device) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (pool != device->pool_handle()) return CUDA_ERROR_INVALID_VALUE;
  return allocate(Allocated::pool, pointer, bytes);
}

}  // namespace

CUresult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  return call(Entry::cuMemGetInfo_v2, [&] {
    const auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (free_bytes == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *total = emulator::Memory::device_bytes;
    *free_bytes = *total - process().memory.used(device->ordinal);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
  return call(Entry::cuMemAlloc_v2, [&] { return allocate(Allocated::device, pointer, bytes); });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return call(Entry::cuMemFree_v2, [&] { return release(pointer, false); });
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned flags) {
  return call(Entry::cuMemAllocManaged, [&] {
    if (flags != 1 && flags != 2) return CUDA_ERROR_INVALID_VALUE;
    return allocate(Allocated::managed, pointer, bytes);
  });
}

CUresult cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  return call(Entry::cuMemAllocHost_v2, [&] { return allocate_host(pointer, bytes); });
}

CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return call(Entry::cuMemHostAlloc,
              [&] { return flags > 7 ? CUDA_ERROR_INVALID_VALUE : allocate_host(pointer, bytes); });
}

CUresult cuMemFreeHost(void* pointer) {
  return call(Entry::cuMemFreeHost, [&] { return release(reinterpret_cast<CUdeviceptr>(pointer), true); });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* pointer, unsigned flags) {
  return call(Entry::cuMemHostGetDevicePointer_v2, [&] {
    const auto found = process().memory.find(reinterpret_cast<CUdeviceptr>(pointer));
    if (out == nullptr || flags != 0 || !found || found->how != Allocated::pinned)
      return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<CUdeviceptr>(pointer);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  return call(Entry::cuMemAllocAsync, [&] {
    auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return allocate_in_stream(pointer, bytes, device->pool_handle(), stream);
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return call(Entry::cuMemAllocFromPoolAsync,
              [&] { return allocate_in_stream(pointer, bytes, pool, stream); });
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  return call(Entry::cuMemFreeAsync, [&] {
    auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const auto stream = process().stream(handle, *device);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const auto found = process().memory.find(pointer);
    if (!found || found->base != pointer ||
        (found->how != Allocated::pool && found->how != Allocated::device))
      return CUDA_ERROR_INVALID_VALUE;
    process().submit(*stream, [pointer] { process().memory.release(pointer, false); });
    return CUDA_SUCCESS;
  });
}

}  // namespace lath::gpu
