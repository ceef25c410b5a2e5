#pragma once

#include <cstdint>
#include <memory>

#include "providers/ofi/endpoint.hpp"

namespace lath::providers::ofi {

/// A range known to the device.
class RegisteredMemory final : public Registration {
 public:
  /// Throws Error where the device refuses; leaves nothing behind. `key` is used where the application
  /// chooses keys. The endpoint must outlive it.
  RegisteredMemory(const Endpoint& endpoint, void* address, std::size_t length, MemoryKind kind,
                   bool writable, bool remote, std::uint64_t key);

  [[nodiscard]] std::uint64_t key() const noexcept override { return fi_mr_key(region_.get()); }
  [[nodiscard]] std::uint64_t remote_address() const noexcept override { return remote_address_; }
  /// What libfabric takes beside a local segment.
  [[nodiscard]] void* descriptor() const noexcept { return descriptor_; }

 private:
  MemoryRegionHandle region_;
  void* descriptor_ = nullptr;
  std::uint64_t remote_address_ = 0;
};

}  // namespace lath::providers::ofi
