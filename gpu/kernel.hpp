#pragma once

#include <cstddef>
#include <cstdint>

/// Kernel bodies, written once as plain C++ and compiled twice: by nvcc for GPUs, and by the host compiler
/// for the emulator.
///
/// A body is `LATH_KERNEL_BODY void body(const Args& args, const lath::gpu::Grid& grid)`, where Args is one
/// trivially copyable struct. It walks its work with `for (i = grid.first(); i < n; i += grid.step())` and
/// passes every pointer that it got in args through grid.address() once before use (identity on a GPU; on the
/// emulator the accessible mapping of device memory). `LATH_KERNEL(name, Args, body)` makes the entry: an
/// extern "C" __global__ function under nvcc, a HostKernel otherwise.
#if defined(__CUDACC__)
#define LATH_KERNEL_BODY __device__ inline
#else
#define LATH_KERNEL_BODY inline
#endif

namespace lath::gpu {

/// Where the emulator's device memory lies, and how far its accessible mapping is from it.
struct EmulatedWindow {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::intptr_t shift = 0;
};

/// The thread's share of a one-dimensional launch.
class Grid {
 public:
#if defined(__CUDACC__)
  __device__ std::uint64_t first() const {
    return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  }
  __device__ std::uint64_t step() const {
    return std::uint64_t{gridDim.x} * blockDim.x;
  }
  template <class T>
  __device__ T* address(T* pointer) const {
    return pointer;
  }
#else
  Grid(std::uint64_t first, std::uint64_t step, const EmulatedWindow& window)
      : first_(first), step_(step), window_(window) {}
  [[nodiscard]] std::uint64_t first() const {
    return first_;
  }
  [[nodiscard]] std::uint64_t step() const {
    return step_;
  }
  template <class T>
  [[nodiscard]] T* address(T* pointer) const {
    const auto value = reinterpret_cast<std::uintptr_t>(pointer);
    if (value < window_.begin || value >= window_.end) return pointer;
    return reinterpret_cast<T*>(value + static_cast<std::uintptr_t>(window_.shift));
  }

 private:
  std::uint64_t first_;
  std::uint64_t step_;
  const EmulatedWindow& window_;
#endif
};

/// A kernel as the emulator calls it: `run` executes the launch's whole share [first, n) in steps of `step`.
struct HostKernel {
  const char* name;
  std::size_t argument_bytes;
  void (*run)(const void* arguments, const Grid& grid);
};

/// What cuModuleLoadData takes on the emulator: found by its magic.
struct HostModuleImage {
  char magic[16] = "LATH-EMULATED-1";
  const HostKernel* kernels = nullptr;
  std::size_t count = 0;
};

}  // namespace lath::gpu

#if defined(__CUDACC__)
#define LATH_KERNEL(name, Args, body)                \
  extern "C" __global__ void name(const Args args) { \
    body(args, lath::gpu::Grid{});                   \
  }
#else
#define LATH_KERNEL(name, Args, body)                                                                        \
  const lath::gpu::HostKernel name##_host_kernel = {#name, sizeof(Args),                                     \
                                                    [](const void* arguments, const lath::gpu::Grid& grid) { \
                                                      body(*static_cast<const Args*>(arguments), grid);      \
                                                    }};
#endif
