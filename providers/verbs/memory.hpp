#pragma once

#include "providers/provider.hpp"
#include "providers/verbs/device.hpp"

namespace lath::providers::verbs {

/// A range known to the device.
class RegisteredMemory final : public Registration {
 public:
  /// Throws Error where the device refuses; leaves nothing behind. The device must outlive it.
  RegisteredMemory(const Device& device, void* address, std::size_t length, bool writable, bool remote);

  [[nodiscard]] std::uint64_t key() const noexcept override { return region_.get()->rkey; }
  [[nodiscard]] std::uint64_t remote_address() const noexcept override {
    return reinterpret_cast<std::uint64_t>(region_.get()->addr);
  }
  /// What work requests take beside a local segment.
  [[nodiscard]] std::uint32_t local_key() const noexcept { return region_.get()->lkey; }

 private:
  MemoryRegionHandle region_;
};

}  // namespace lath::providers::verbs
