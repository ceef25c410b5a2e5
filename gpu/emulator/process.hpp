#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/cuda_api.hpp"
#include "gpu/emulator/memory.hpp"
#include "gpu/emulator/stream.hpp"
#include "gpu/kernel.hpp"

namespace lath::gpu::emulator {

/// A device and its primary context; the address of `context` serves as the CUcontext.
struct Device {
  int ordinal = 0;
  std::atomic<int> retained{0};
  std::shared_ptr<Stream> default_stream;
  char context = 0;
  char pool = 0;  ///< its address is the default memory pool

  [[nodiscard]] CUcontext handle() { return reinterpret_cast<CUcontext>(&context); }
  [[nodiscard]] CUmemoryPool pool_handle() { return reinterpret_cast<CUmemoryPool>(&pool); }
};

struct EventState {
  int device = 0;
  std::shared_ptr<Marker> latest;  ///< null until recorded; guarded by Process::mutex
};

/// Kernels of one loaded image; the address of an element serves as the CUfunction.
struct LoadedModule {
  std::vector<HostKernel> kernels;
};

/// What the emulated driver holds in this process. Made by cuInit, never destroyed: streams may still run
/// when the process ends.
class Process {
 public:
  explicit Process(int device_count);

  Memory memory;
  std::vector<std::unique_ptr<Device>> devices;

  [[nodiscard]] Device* device(CUdevice ordinal);
  [[nodiscard]] Device* device_of(CUcontext context);

  /// A stream by handle; the null handle and 1 stand for `current`'s default stream. Null for an unknown
  /// handle.
  [[nodiscard]] std::shared_ptr<Stream> stream(CUstream handle, Device& current);
  CUstream add_stream(int device, bool blocking);
  CUresult close_stream(CUstream handle);
  /// Puts an operation in a stream, ordered with the default stream as CUDA does.
  std::uint64_t submit(Stream& stream, std::function<void()> operation);
  /// Waits for all that was submitted to a device.
  void synchronize(int device);

  std::mutex mutex;  ///< guards what follows
  std::unordered_map<CUevent, std::unique_ptr<EventState>> events;
  std::unordered_map<CUmodule, std::unique_ptr<LoadedModule>> modules;

 private:
  std::vector<std::shared_ptr<Stream>> streams_of(int device);

  std::unordered_map<CUstream, std::shared_ptr<Stream>> streams_;
  std::vector<std::shared_ptr<Stream>> closing_;  // destroyed, perhaps with operations left
  std::uint64_t last_stream_ = 0;
};

/// Carries cuInit out, once; reads the LATH_EMULATOR_* variables.
CUresult initialise() noexcept;
/// Whether cuInit succeeded in this very process.
[[nodiscard]] bool usable() noexcept;
/// Only where usable().
[[nodiscard]] Process& process() noexcept;

/// The calling thread's stack of contexts, the current one last.
std::vector<CUcontext>& context_stack();
/// The current context's device; null where there is none.
[[nodiscard]] Device* current_device();

[[nodiscard]] bool faithful() noexcept;
void set_faithful(bool on) noexcept;

}  // namespace lath::gpu::emulator
