// Compiled only where cuda.h is: proves at compile time that gpu/cuda_api.hpp and driver_calls.hpp agree with
// it.
#include <cuda.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "gpu/cuda_api.hpp"
#include "gpu/driver_calls.hpp"

namespace {

// As passed to a function: pointers by what they are, enums and integers by size.
template <class Ours, class Theirs>
constexpr bool same_argument =
    sizeof(Ours) == sizeof(Theirs) &&
    std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_class_v<Ours> == std::is_class_v<Theirs> &&
    (std::is_integral_v<Ours> || std::is_enum_v<Ours>) ==
        (std::is_integral_v<Theirs> || std::is_enum_v<Theirs>);

template <class... Ours>
struct Signature {
  template <class... Theirs>
  static constexpr bool same(CUresult (*)(Theirs...)) {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs))
      return (same_argument<Ours, Theirs> && ...);
    else
      return false;
  }
};

}  // namespace

namespace lath::gpu::as_declared {
#define LATH_SIGNATURE(kind, symbol, ...) using signature_of_##symbol = Signature<__VA_ARGS__>;
LATH_DRIVER_CALLS(LATH_SIGNATURE)
#undef LATH_SIGNATURE
}  // namespace lath::gpu::as_declared

namespace {

#define LATH_COMPARE(kind, symbol, ...) \
  static_assert(lath::gpu::as_declared::signature_of_##symbol::same(&::symbol), #symbol);
LATH_DRIVER_CALLS(LATH_COMPARE)
#undef LATH_COMPARE

#define LATH_SAME(name) static_assert(static_cast<long>(lath::gpu::name) == static_cast<long>(::name), #name)
LATH_SAME(CUDA_SUCCESS);
LATH_SAME(CUDA_ERROR_INVALID_VALUE);
LATH_SAME(CUDA_ERROR_OUT_OF_MEMORY);
LATH_SAME(CUDA_ERROR_NOT_INITIALIZED);
LATH_SAME(CUDA_ERROR_DEINITIALIZED);
LATH_SAME(CUDA_ERROR_NO_DEVICE);
LATH_SAME(CUDA_ERROR_INVALID_DEVICE);
LATH_SAME(CUDA_ERROR_INVALID_IMAGE);
LATH_SAME(CUDA_ERROR_INVALID_CONTEXT);
LATH_SAME(CUDA_ERROR_MAP_FAILED);
LATH_SAME(CUDA_ERROR_NO_BINARY_FOR_GPU);
LATH_SAME(CUDA_ERROR_INVALID_HANDLE);
LATH_SAME(CUDA_ERROR_NOT_FOUND);
LATH_SAME(CUDA_ERROR_NOT_READY);
LATH_SAME(CUDA_ERROR_ILLEGAL_ADDRESS);
LATH_SAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
LATH_SAME(CUDA_ERROR_NOT_PERMITTED);
LATH_SAME(CUDA_ERROR_NOT_SUPPORTED);
LATH_SAME(CUDA_ERROR_UNKNOWN);
LATH_SAME(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
LATH_SAME(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
LATH_SAME(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
LATH_SAME(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
LATH_SAME(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
LATH_SAME(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
LATH_SAME(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
LATH_SAME(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
LATH_SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
LATH_SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
LATH_SAME(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
LATH_SAME(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
LATH_SAME(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
LATH_SAME(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
LATH_SAME(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
LATH_SAME(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
LATH_SAME(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING);
LATH_SAME(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
LATH_SAME(CU_POINTER_ATTRIBUTE_CONTEXT);
LATH_SAME(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
LATH_SAME(CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
LATH_SAME(CU_POINTER_ATTRIBUTE_HOST_POINTER);
LATH_SAME(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
LATH_SAME(CU_POINTER_ATTRIBUTE_BUFFER_ID);
LATH_SAME(CU_POINTER_ATTRIBUTE_IS_MANAGED);
LATH_SAME(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
LATH_SAME(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
LATH_SAME(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
LATH_SAME(CU_POINTER_ATTRIBUTE_RANGE_SIZE);
LATH_SAME(CU_POINTER_ATTRIBUTE_MAPPED);
LATH_SAME(CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE);
LATH_SAME(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
LATH_SAME(CU_MEMORYTYPE_HOST);
LATH_SAME(CU_MEMORYTYPE_DEVICE);
LATH_SAME(CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
#undef LATH_SAME

static_assert(sizeof(lath::gpu::CUipcMemHandle) == sizeof(::CUipcMemHandle));
static_assert(std::is_same_v<lath::gpu::CUstream, ::CUstream> &&
              std::is_same_v<lath::gpu::CUevent, ::CUevent>);
static_assert(lath::gpu::invalid_device == CU_DEVICE_INVALID);
static_assert(lath::gpu::CU_STREAM_NON_BLOCKING_FLAG == CU_STREAM_NON_BLOCKING);
static_assert(lath::gpu::CU_EVENT_DISABLE_TIMING_FLAG == CU_EVENT_DISABLE_TIMING);
static_assert(lath::gpu::CU_MEM_ATTACH_GLOBAL_FLAG == CU_MEM_ATTACH_GLOBAL);
static_assert(lath::gpu::CU_IPC_MEM_LAZY_PEER_ACCESS_FLAG == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
static_assert(lath::gpu::CU_HOST_ALLOC_PORTABLE_FLAG == CU_MEMHOSTALLOC_PORTABLE);
static_assert(lath::gpu::CU_HOST_ALLOC_DEVICEMAP_FLAG == CU_MEMHOSTALLOC_DEVICEMAP);

TEST(CudaHeader, OurDeclarationsAgree) {
  SUCCEED() << "compared when this file was compiled, with CUDA " << CUDA_VERSION;
}

}  // namespace
