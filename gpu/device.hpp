#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/driver.hpp"

namespace lath::gpu {

/// Whether and which GPU this process uses, decided once by LATH_GPU.
struct Availability {
  bool available = false;
  bool emulated = false;
  int device_count = 0;
  std::string device_name;                ///< of device 0
  std::vector<std::string> device_names;  ///< of all, by ordinal
  std::string reason;                     ///< where not available: what was tried and how it failed
};
[[nodiscard]] const Availability& availability();
/// Throws Error(not_supported) with the reason where LATH_GPU=emulated asks for the emulator and it cannot be
/// had. Looks for no GPU otherwise.
void require_emulator();

enum class MemoryKind : std::uint8_t { host, pinned, managed, device };
std::string_view name(MemoryKind kind);

/// What a pointer points into. For plain host memory base, bytes and buffer_id are 0.
struct MemoryInfo {
  MemoryKind kind = MemoryKind::host;
  int device = -1;              ///< ordinal, for device and managed memory
  std::uintptr_t base = 0;      ///< of the allocation
  std::size_t bytes = 0;        ///< of the allocation
  std::uint64_t buffer_id = 0;  ///< CU_POINTER_ATTRIBUTE_BUFFER_ID
  bool pool = false;            ///< from a stream-ordered pool: legacy IPC and dma-buf are not tried
};

/// The kind of one address. Cached by allocation; a cached allocation is believed only while its buffer id is
/// unchanged. Never throws; host memory where no GPU is in use. Thread safe.
[[nodiscard]] MemoryInfo memory_info(const void* address) noexcept;

}  // namespace lath::gpu
