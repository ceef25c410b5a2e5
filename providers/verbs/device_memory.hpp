#pragma once

#include <functional>
#include <string>

#include "providers/verbs/device.hpp"

namespace lath::providers::verbs {

/// How a NIC comes to reach GPU memory, best first.
enum class DeviceWay {
  dma_buf,      ///< the GPU driver exports the range, the NIC's imports it
  peer_memory,  ///< the NIC's driver asks the GPU's for the pages of the plain address
  emulator      ///< the emulator's accessible mapping, known to the NIC by the device's addresses
};

/// A range of device memory known to the NIC: keys go with the device's own addresses.
struct DeviceRegistration {
  MemoryRegionHandle region;
  DeviceWay way = DeviceWay::dma_buf;
};

/// What the ways need of others. Each may fail at any time, by throwing Error.
struct DeviceMemoryCalls {
  /// A file descriptor of whole pages, which the caller closes.
  std::function<int(std::uintptr_t begin, std::size_t bytes)> export_dma_buf;
  std::function<MemoryRegionHandle(int file, std::size_t bytes, std::uintptr_t begin, int access)>
      register_dma_buf;
  std::function<MemoryRegionHandle(void* address, std::size_t bytes, int access)> register_address;
  /// Null where the memory is not the emulator's.
  std::function<void*(const void* address, std::size_t bytes)> alias;
  std::function<MemoryRegionHandle(void* mapped, std::size_t bytes, std::uintptr_t as, int access)>
      register_as;
};

/// The real ones.
[[nodiscard]] DeviceMemoryCalls device_memory_calls(const Device& device);

/// Tries every way in turn. Throws Error(not_supported) with each way's reason where none works; what failed
/// leaves nothing behind. `address` need not begin a page.
[[nodiscard]] DeviceRegistration register_device_memory(const DeviceMemoryCalls& calls, void* address,
                                                        std::size_t bytes, int access);

}  // namespace lath::providers::verbs
