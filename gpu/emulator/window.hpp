#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "gpu/cuda_api.hpp"
#include "gpu/kernel.hpp"

namespace lath::gpu::emulator {

/// Pages of device memory: the file that holds them, and their place in the window.
struct Region {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  int file = -1;  ///< memfd, owned by the region's user
};

/// The address space of device memory: a range where every access faults, and at a fixed shift a second range
/// where the same pages are accessible. Both are only reserved until regions are mapped. Not thread safe.
class Window {
 public:
  static constexpr std::size_t bytes = std::size_t{64} << 30;

  /// Throws std::bad_alloc where the addresses cannot be reserved.
  Window();

  /// Maps the first region.bytes (whole pages) of region.file and sets region.begin. Freed addresses are
  /// used again, lowest first. False where addresses or memory are exhausted.
  bool map(Region& region);
  void unmap(const Region& region);

  [[nodiscard]] const EmulatedWindow& view() const { return view_; }
  [[nodiscard]] bool contains(std::uintptr_t address) const {
    return address >= view_.begin && address < view_.end;
  }
  [[nodiscard]] char* accessible(std::uintptr_t address) const {
    return reinterpret_cast<char*>(address + static_cast<std::uintptr_t>(view_.shift));
  }

 private:
  EmulatedWindow view_;
  std::map<std::uintptr_t, std::size_t> free_;
};

/// The page size of the host.
std::size_t page_bytes();

}  // namespace lath::gpu::emulator
