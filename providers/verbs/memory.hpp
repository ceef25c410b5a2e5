#pragma once

#include "providers/provider.hpp"
#include "providers/verbs/device.hpp"

namespace lath::providers::verbs {

/// A range known to the NIC.
class RegisteredMemory final : public Registration {
 public:
  /// Throws Error where the device refuses; leaves nothing behind. The device must outlive it. Memory of a
  /// GPU is registered as register_device_memory() can.
  RegisteredMemory(const Device& device, void* address, std::size_t length, MemoryKind kind, bool writable,
                   bool remote);

  [[nodiscard]] std::uint64_t key() const noexcept override { return region_.get()->rkey; }
  [[nodiscard]] std::uint64_t remote_address() const noexcept override {
    return reinterpret_cast<std::uint64_t>(address_);
  }
  /// What work requests take beside a local segment.
  [[nodiscard]] std::uint32_t local_key() const noexcept { return region_.get()->lkey; }

 private:
  void* address_;
  MemoryRegionHandle region_;
};

}  // namespace lath::providers::verbs
