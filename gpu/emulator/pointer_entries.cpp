#include <cstring>

#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"

namespace lath::gpu {
namespace {

using emulator::Allocated;
using emulator::Allocation;
using emulator::call;
using emulator::Entry;
using emulator::process;

template <class T>
CUresult put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return CUDA_SUCCESS;
}

bool on_host(const Allocation& memory) {
  return memory.how == Allocated::pinned || memory.how == Allocated::managed;
}

bool exportable(const Allocation& memory) {
  return memory.how == Allocated::device;
}

CUresult put_attribute(CUpointer_attribute which, const Allocation& memory, CUdeviceptr pointer, void* out) {
  auto& device = *process().devices[static_cast<std::size_t>(memory.device)];
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(out, device.handle());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(out, memory.how == Allocated::pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(out, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!on_host(memory)) return CUDA_ERROR_INVALID_VALUE;
      return put(out, pointer);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(out, memory.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(out, memory.how == Allocated::managed ? 1U : 0U);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(out, memory.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return put(out, exportable(memory) ? 1U : 0U);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(out, memory.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(out, memory.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(out, 1U);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(out, memory.how == Allocated::pool ? device.pool_handle() : nullptr);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      break;  // can be set, not asked
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// What the driver gives in a list of attributes for memory that it does not know.
CUresult put_unknown(CUpointer_attribute which, void* out) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(out, invalid_device);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(out, 0U);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return put(out, std::uint64_t{0});
  }
}

}  // namespace

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
  return call(Entry::cuMemGetAddressRange_v2, [&] {
    const auto found = process().memory.find(pointer);
    if (!found) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = found->base;
    if (bytes != nullptr) *bytes = found->bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr pointer) {
  return call(Entry::cuPointerGetAttribute, [&] {
    const auto found = process().memory.find(pointer);
    return data == nullptr || !found ? CUDA_ERROR_INVALID_VALUE : put_attribute(which, *found, pointer, data);
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** data,
                                CUdeviceptr pointer) {
  return call(Entry::cuPointerGetAttributes, [&] {
    if (which == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto found = process().memory.find(pointer);
    for (unsigned i = 0; i < count; ++i) {
      const bool known = found && put_attribute(which[i], *found, pointer, data[i]) == CUDA_SUCCESS;
      if (!known && put_unknown(which[i], data[i]) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr pointer) {
  return call(Entry::cuPointerSetAttribute, [&] {
    const auto found = process().memory.find(pointer);
    // Copies of this emulator are always seen by all, so there is nothing to switch on.
    const bool right = value != nullptr && which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && found &&
                       (found->how == Allocated::device || found->how == Allocated::imported);
    return right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace lath::gpu
