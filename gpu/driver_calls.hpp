#pragma once

/// The one list of driver functions that Lath uses: X(kind, symbol, argument types...). From it are made the
/// function table (driver.hpp), the names looked up in libcuda.so.1, the emulator's entry points and its call
/// counters, and the comparison with cuda.h.
///
/// kind is how a call is counted: `work` submits, copies, allocates, frees, records or waits; `poll` only
/// asks whether work has ended; `query` does neither and is not counted.
#define LATH_DRIVER_CALLS(X)                                                                                \
  X(query, cuInit, unsigned)                                                                                \
  X(query, cuDriverGetVersion, int*)                                                                        \
  X(query, cuGetErrorName, CUresult, const char**)                                                          \
  X(query, cuGetErrorString, CUresult, const char**)                                                        \
  X(query, cuDeviceGetCount, int*)                                                                          \
  X(query, cuDeviceGet, CUdevice*, int)                                                                     \
  X(query, cuDeviceGetName, char*, int, CUdevice)                                                           \
  X(query, cuDeviceGetAttribute, int*, CUdevice_attribute, CUdevice)                                        \
  X(query, cuDeviceTotalMem_v2, std::size_t*, CUdevice)                                                     \
  X(query, cuDevicePrimaryCtxRetain, CUcontext*, CUdevice)                                                  \
  X(query, cuDevicePrimaryCtxGetState, CUdevice, unsigned*, int*)                                           \
  X(query, cuCtxGetCurrent, CUcontext*)                                                                     \
  X(query, cuCtxSetCurrent, CUcontext)                                                                      \
  X(query, cuCtxPushCurrent_v2, CUcontext)                                                                  \
  X(query, cuCtxPopCurrent_v2, CUcontext*)                                                                  \
  X(query, cuCtxGetDevice, CUdevice*)                                                                       \
  X(work, cuCtxSynchronize)                                                                                 \
  X(query, cuMemGetInfo_v2, std::size_t*, std::size_t*)                                                     \
  X(query, cuMemGetAddressRange_v2, CUdeviceptr*, std::size_t*, CUdeviceptr)                                \
  X(query, cuPointerGetAttribute, void*, CUpointer_attribute, CUdeviceptr)                                  \
  X(query, cuPointerGetAttributes, unsigned, CUpointer_attribute*, void**, CUdeviceptr)                     \
  X(query, cuPointerSetAttribute, const void*, CUpointer_attribute, CUdeviceptr)                            \
  X(work, cuMemAlloc_v2, CUdeviceptr*, std::size_t)                                                         \
  X(work, cuMemFree_v2, CUdeviceptr)                                                                        \
  X(work, cuMemAllocManaged, CUdeviceptr*, std::size_t, unsigned)                                           \
  X(work, cuMemAllocHost_v2, void**, std::size_t)                                                           \
  X(work, cuMemHostAlloc, void**, std::size_t, unsigned)                                                    \
  X(work, cuMemFreeHost, void*)                                                                             \
  X(query, cuMemHostGetDevicePointer_v2, CUdeviceptr*, void*, unsigned)                                     \
  X(query, cuDeviceGetDefaultMemPool, CUmemoryPool*, CUdevice)                                              \
  X(work, cuMemAllocAsync, CUdeviceptr*, std::size_t, CUstream)                                             \
  X(work, cuMemAllocFromPoolAsync, CUdeviceptr*, std::size_t, CUmemoryPool, CUstream)                       \
  X(work, cuMemFreeAsync, CUdeviceptr, CUstream)                                                            \
  X(query, cuIpcGetMemHandle, CUipcMemHandle*, CUdeviceptr)                                                 \
  X(query, cuIpcOpenMemHandle_v2, CUdeviceptr*, CUipcMemHandle, unsigned)                                   \
  X(query, cuIpcCloseMemHandle, CUdeviceptr)                                                                \
  X(query, cuMemGetHandleForAddressRange, void*, CUdeviceptr, std::size_t, CUmemRangeHandleType,            \
    unsigned long long)                                                                                     \
  X(work, cuMemcpy, CUdeviceptr, CUdeviceptr, std::size_t)                                                  \
  X(work, cuMemcpyHtoD_v2, CUdeviceptr, const void*, std::size_t)                                           \
  X(work, cuMemcpyDtoH_v2, void*, CUdeviceptr, std::size_t)                                                 \
  X(work, cuMemcpyAsync, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)                                   \
  X(work, cuMemsetD8Async, CUdeviceptr, unsigned char, std::size_t, CUstream)                               \
  X(work, cuStreamCreate, CUstream*, unsigned)                                                              \
  X(work, cuStreamDestroy_v2, CUstream)                                                                     \
  X(poll, cuStreamQuery, CUstream)                                                                          \
  X(work, cuStreamSynchronize, CUstream)                                                                    \
  X(work, cuStreamWaitEvent, CUstream, CUevent, unsigned)                                                   \
  X(work, cuLaunchHostFunc, CUstream, CUhostFn, void*)                                                      \
  X(work, cuEventCreate, CUevent*, unsigned)                                                                \
  X(work, cuEventDestroy_v2, CUevent)                                                                       \
  X(work, cuEventRecord, CUevent, CUstream)                                                                 \
  X(poll, cuEventQuery, CUevent)                                                                            \
  X(work, cuEventSynchronize, CUevent)                                                                      \
  X(work, cuModuleLoadData, CUmodule*, const void*)                                                         \
  X(work, cuModuleUnload, CUmodule)                                                                         \
  X(query, cuModuleGetFunction, CUfunction*, CUmodule, const char*)                                         \
  X(work, cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
    CUstream, void**, void**)
