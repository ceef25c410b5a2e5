#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"

namespace lath::gpu {

using emulator::call;
using emulator::context_stack;
using emulator::current_device;
using emulator::Entry;
using emulator::process;

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
  return call(Entry::cuDevicePrimaryCtxRetain, [&] {
    auto* const device = process().device(ordinal);
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    ++device->retained;
    *context = device->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  return call(Entry::cuDevicePrimaryCtxGetState, [&] {
    const auto* const device = process().device(ordinal);
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = device->retained > 0 ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return call(Entry::cuCtxGetCurrent, [&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = context_stack().empty() ? nullptr : context_stack().back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return call(Entry::cuCtxSetCurrent, [&] {
    if (context != nullptr && process().device_of(context) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context_stack().empty()) context_stack().pop_back();
    if (context != nullptr) context_stack().push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return call(Entry::cuCtxPushCurrent_v2, [&] {
    if (process().device_of(context) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return call(Entry::cuCtxPopCurrent_v2, [&] {
    if (context_stack().empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context != nullptr) *context = context_stack().back();
    context_stack().pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* ordinal) {
  return call(Entry::cuCtxGetDevice, [&] {
    const auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (ordinal == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *ordinal = device->ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return call(Entry::cuCtxSynchronize, [&] {
    const auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    process().synchronize(device->ordinal);
    return CUDA_SUCCESS;
  });
}

}  // namespace lath::gpu
