#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "gpu/emulator/window.hpp"

namespace lath::gpu::emulator {

enum class Allocated : unsigned char { device, pool, managed, pinned, imported };

struct Allocation {
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  Allocated how = Allocated::device;
  int device = 0;
  std::uint64_t id = 0;         ///< never given twice in a process
  Region region;                ///< where how is device, pool or imported
  std::uint64_t import_of = 0;  ///< the exported memory's file, by which a second import finds this one
  int imports = 0;
};

/// Where a copy or kernel reaches an address.
struct Reach {
  char* address = nullptr;
  bool pageable = false;  ///< host memory that the driver did not allocate
};

/// All memory of the process that the driver knows. Thread safe.
class Memory {
 public:
  static constexpr std::size_t device_bytes = std::size_t{16} << 30;  ///< what each device claims to have
  static constexpr std::size_t alignment = 512;                       ///< of device memory

  CUresult allocate(Allocated how, std::size_t bytes, int device, CUdeviceptr& out);
  /// CUDA_ERROR_INVALID_VALUE unless `pointer` is the base of such an allocation.
  CUresult release(CUdeviceptr pointer, bool host);
  /// Memory of another process, by its file (taken over) and size; the same file twice gives the same
  /// address.
  CUresult import(int file, std::uint64_t file_number, std::size_t bytes, int device, CUdeviceptr& out);
  CUresult close_import(CUdeviceptr pointer);

  /// The allocation that holds an address.
  [[nodiscard]] std::optional<Allocation> find(CUdeviceptr pointer);
  /// The allocation whose pages hold an address, also beside its bytes.
  [[nodiscard]] std::optional<Allocation> find_pages(CUdeviceptr pointer);
  /// False for a range that reaches into device memory but not into one allocation.
  [[nodiscard]] bool reach(CUdeviceptr pointer, std::size_t bytes, Reach& out);
  [[nodiscard]] std::size_t used(int device);
  [[nodiscard]] const EmulatedWindow& window() const { return window_.view(); }

 private:
  const Allocation* at(CUdeviceptr pointer) const;
  CUresult map_pages(Allocation& allocation, std::size_t bytes);
  void drop(const Allocation& allocation);

  std::mutex mutex_;
  Window window_;
  std::map<CUdeviceptr, Allocation> allocations_;
  std::map<int, std::size_t> used_;
  std::uint64_t last_id_ = 0;
};

}  // namespace lath::gpu::emulator
