#include <cstring>

#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"

namespace lath::gpu {
namespace {

using emulator::call;
using emulator::current_device;
using emulator::Entry;
using emulator::process;
using emulator::Reach;

enum class Wait : unsigned char { as_driver, always };

CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream handle, Wait wait) {
  auto* const device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const auto stream = process().stream(handle, *device);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0) return CUDA_SUCCESS;
  Reach target;
  Reach source;
  if (!process().memory.reach(to, bytes, target) || !process().memory.reach(from, bytes, source))
    return CUDA_ERROR_INVALID_VALUE;
  const bool corrupt = emulator::shall_corrupt();
  const auto ticket = process().submit(*stream, [=] {
    std::memmove(target.address, source.address, bytes);
    // Added, so that two wrong copies do not make a right one.
    if (corrupt) ++*reinterpret_cast<unsigned char*>(target.address);
  });
  // A copy into pageable memory has ended when the call returns; one out of it may not have begun.
  if (wait == Wait::always || (wait == Wait::as_driver && target.pageable)) stream->wait_for(ticket);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return call(Entry::cuMemcpy, [&] { return copy(to, from, bytes, nullptr, Wait::always); });
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return call(Entry::cuMemcpyHtoD_v2,
              [&] { return copy(to, reinterpret_cast<CUdeviceptr>(from), bytes, nullptr, Wait::always); });
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return call(Entry::cuMemcpyDtoH_v2,
              [&] { return copy(reinterpret_cast<CUdeviceptr>(to), from, bytes, nullptr, Wait::always); });
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return call(Entry::cuMemcpyAsync, [&] { return copy(to, from, bytes, stream, Wait::as_driver); });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream handle) {
  return call(Entry::cuMemsetD8Async, [&] {
    auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const auto stream = process().stream(handle, *device);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Reach target;
    if (!process().memory.reach(to, bytes, target) || target.pageable) return CUDA_ERROR_INVALID_VALUE;
    process().submit(*stream, [=] { std::memset(target.address, value, bytes); });
    return CUDA_SUCCESS;
  });
}

}  // namespace lath::gpu
