#include <algorithm>
#include <array>
#include <cstdio>

#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"

namespace lath::gpu {
namespace {

using emulator::call;
using emulator::Entry;
using emulator::process;

struct NamedCode {
  CUresult code;
  const char* name;
  const char* text;
};

constexpr std::array codes{
    NamedCode{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    NamedCode{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    NamedCode{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    NamedCode{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    NamedCode{CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    NamedCode{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    NamedCode{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    NamedCode{CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    NamedCode{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    NamedCode{CUDA_ERROR_MAP_FAILED, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    NamedCode{CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
              "no kernel image for this device"},
    NamedCode{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    NamedCode{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    NamedCode{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    NamedCode{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"},
    NamedCode{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
              "too many resources requested for launch"},
    NamedCode{CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    NamedCode{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    NamedCode{CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

CUresult describe(CUresult code, const char* NamedCode::*field, const char** out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* const found =
      std::find_if(codes.begin(), codes.end(), [&](const auto& c) { return c.code == code; });
  *out = found == codes.end() ? nullptr : found->*field;
  return *out == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int attribute(CUdevice_attribute which, CUdevice ordinal) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 2;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 8;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return 0xe0 + ordinal;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING:
      return 200;  // CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES: host memory needs no flush
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      return 0;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
      return 1;
  }
  return -1;
}

}  // namespace

CUresult cuInit(unsigned flags) {
  return call(Entry::cuInit, [&] { return flags == 0 ? emulator::initialise() : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuDriverGetVersion(int* version) {
  return call(Entry::cuDriverGetVersion, [&] {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 12000;
    return CUDA_SUCCESS;
  });
}

CUresult cuGetErrorName(CUresult code, const char** name) {
  return call(Entry::cuGetErrorName, [&] { return describe(code, &NamedCode::name, name); });
}

CUresult cuGetErrorString(CUresult code, const char** text) {
  return call(Entry::cuGetErrorString, [&] { return describe(code, &NamedCode::text, text); });
}

CUresult cuDeviceGetCount(int* count) {
  return call(Entry::cuDeviceGetCount, [&] {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(process().devices.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return call(Entry::cuDeviceGet, [&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (process().device(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return call(Entry::cuDeviceGetName, [&] {
    if (name == nullptr || length < 1) return CUDA_ERROR_INVALID_VALUE;
    if (process().device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(name, static_cast<std::size_t>(length), "Lath emulated GPU");
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return call(Entry::cuDeviceGetAttribute, [&] {
    if (process().device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    const int found = attribute(which, device);
    if (value == nullptr || found < 0) return CUDA_ERROR_INVALID_VALUE;
    *value = found;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return call(Entry::cuDeviceTotalMem_v2, [&] {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (process().device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = emulator::Memory::device_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  return call(Entry::cuDeviceGetDefaultMemPool, [&] {
    auto* const device = process().device(ordinal);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *pool = device->pool_handle();
    return CUDA_SUCCESS;
  });
}

}  // namespace lath::gpu
