#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "base/unique_handle.hpp"
#include "gpu/driver.hpp"
#include "gpu/kernel.hpp"

namespace lath::gpu {

/// Makes the primary context of a device current for a scope, and restores the caller's afterwards. Never
/// throws: where the context cannot be had, status() says why, and calls inside the scope fail.
class ContextGuard {
 public:
  explicit ContextGuard(int device) noexcept;
  ~ContextGuard();
  [[nodiscard]] CUresult status() const noexcept { return status_; }
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  CUresult status_;
  bool pushed_ = false;
};

struct StreamTraits {
  using type = CUstream;
  static constexpr type null() { return nullptr; }
  static void destroy(type) noexcept;
};
struct EventTraits {
  using type = CUevent;
  static constexpr type null() { return nullptr; }
  static void destroy(type) noexcept;
};

/// A marker in a stream. poll() never blocks.
class Event {
 public:
  explicit Event(int device);
  /// done: everything recorded before has ended; again: not yet; error: the GPU reported a failure.
  Result poll() noexcept;
  /// Blocks until then; for set-up, tests and applications.
  Result synchronize() noexcept;
  [[nodiscard]] CUevent get() const noexcept { return handle_.get(); }

 private:
  unique_handle<EventTraits> handle_;
};

/// A non-blocking stream of one device (never the default stream). Submissions return at once. One thread at
/// a time.
class Stream {
 public:
  explicit Stream(int device);
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] CUstream get() const noexcept { return handle_.get(); }
  /// Host, pinned and device addresses in any combination.
  Result copy(void* destination, const void* source, std::size_t bytes) noexcept;
  Result record(Event& event) noexcept;
  /// What is submitted from now on starts only after what `event` marked, on whatever stream.
  Result wait(const Event& event) noexcept;
  /// Launches with one argument struct: `work` items spread over a one-dimensional grid. work 0 launches
  /// nothing.
  Result launch(CUfunction function, std::uint64_t work, const void* arguments) noexcept;
  /// Blocks; for set-up, tests and applications, never on the progress path.
  Result synchronize() noexcept;

 private:
  int device_;
  unique_handle<StreamTraits> handle_;
};

struct DeviceMemoryTraits {
  using type = CUdeviceptr;
  static constexpr type null() { return 0; }
  static void destroy(type) noexcept;
};
struct PinnedMemoryTraits {
  using type = void*;
  static constexpr type null() { return nullptr; }
  static void destroy(type) noexcept;
};

/// Device memory, freed when destroyed. Throws Error(cuda, ...) naming the size.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(int device, std::size_t bytes);
  [[nodiscard]] void* data() const noexcept { return reinterpret_cast<void*>(handle_.get()); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  unique_handle<DeviceMemoryTraits> handle_;
  std::size_t bytes_ = 0;
};

/// Page-locked host memory that kernels of every device reach under the same address.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(int device, std::size_t bytes);
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(handle_.get()); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  unique_handle<PinnedMemoryTraits> handle_;
  std::size_t bytes_ = 0;
};

/// Copies and waits, for set-up, tests and the C API; any mix of host and device addresses. Uses a stream of
/// its own.
Result copy_and_wait(void* destination, const void* source, std::size_t bytes) noexcept;

/// A set of kernels: the fatbin made by nvcc (null where built without), and the same bodies for the
/// emulator.
struct KernelImage {
  const void* fatbin = nullptr;
  std::span<const HostKernel> host_kernels;
};

struct ModuleTraits {
  using type = CUmodule;
  static constexpr type null() { return nullptr; }
  static void destroy(type) noexcept;
};

/// A KernelImage loaded on a device; host_kernels must stay as long as the module. Throws
/// Error(not_supported) on a real GPU where the image has no fatbin.
class Module {
 public:
  Module(int device, const KernelImage& image);
  /// Throws Error(cuda) that names the kernel.
  [[nodiscard]] CUfunction function(const char* name) const;

 private:
  int device_;
  unique_handle<ModuleTraits> handle_;
};

}  // namespace lath::gpu
