#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "gpu/stream.hpp"

namespace lath::wave {

enum class Memory : std::uint8_t { host, device };

/// Memory of one kind for elements of trivial type, zero at first.
class Storage {
 public:
  Storage() = default;
  Storage(Memory memory, std::size_t bytes);
  [[nodiscard]] void* data() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] Memory memory() const noexcept { return memory_; }

 private:
  Memory memory_ = Memory::host;
  std::size_t bytes_ = 0;
  std::vector<std::byte> host_;
  gpu::DeviceBuffer device_;
};

/// Elements in host or device memory.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Memory memory, std::size_t elements) : storage_(memory, elements * sizeof(T)) {}
  /// A copy of host elements. Throws the copy's Error.
  Array(Memory memory, std::span<const T> elements);
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(storage_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return storage_.size() / sizeof(T); }
  /// Throws the copy's Error.
  [[nodiscard]] std::vector<T> to_host() const;

 private:
  Storage storage_;
};

/// Names of the kernels in kernel_entries.hpp.
enum class Kernel : std::uint8_t {
  predictor_c,
  predictor_fortran,
  corrector_c,
  corrector_fortran,
  acceleration,
  add_points,
  set_points,
  record_points
};
inline constexpr std::size_t kernel_count = 8;

/// Runs the kernels: this thread on host memory, or a stream of device 0 on device memory. One thread at a
/// time. Every call throws the driver's Error.
class Processor {
 public:
  /// Throws Error(not_supported) for device memory where the process has no GPU, or no kernels for it.
  explicit Processor(Memory memory);
  [[nodiscard]] Memory memory() const noexcept { return memory_; }
  /// Starts a kernel over `work` items; later kernels see its results.
  template <class Arguments>
  void launch(Kernel kernel, std::uint64_t work, const Arguments& arguments) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    launch_untyped(kernel, work, &arguments);
  }
  /// Waits until all kernels have ended.
  void finish();

 private:
  void launch_untyped(Kernel kernel, std::uint64_t work, const void* arguments);

  Memory memory_;
  std::unique_ptr<gpu::Module> module_;
  std::unique_ptr<gpu::Stream> stream_;
  std::vector<gpu::CUfunction> functions_;
};

/// Copies to or from memory of one kind, and waits. Throws the driver's Error.
void copy(void* destination, const void* source, std::size_t bytes, Memory memory);

template <class T>
Array<T>::Array(Memory memory, std::span<const T> elements) : Array(memory, elements.size()) {
  copy(data(), elements.data(), elements.size_bytes(), memory);
}

template <class T>
std::vector<T> Array<T>::to_host() const {
  std::vector<T> elements(size());
  copy(elements.data(), data(), storage_.size(), storage_.memory());
  return elements;
}

}  // namespace lath::wave
