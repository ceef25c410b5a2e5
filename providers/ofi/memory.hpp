#pragma once

#include <cstdint>
#include <memory>

#include "providers/ofi/endpoint.hpp"
#include "providers/ofi/keys.hpp"

namespace lath::providers::ofi {

/// Whether the device is to be told of such memory before it is used: for peers always, for local use where
/// it asks for it.
[[nodiscard]] bool needs_registration(const Endpoint& endpoint, MemoryKind kind, bool remote) noexcept;

/// A range known to the device, or one that it need not know.
class RegisteredMemory final : public Registration {
 public:
  /// Memory that the device finds by itself.
  RegisteredMemory() = default;
  /// Throws Error where the device refuses; leaves nothing behind. The endpoint and `keys`, which serve where
  /// the application chooses keys, must outlive it.
  RegisteredMemory(const Endpoint& endpoint, Keys& keys, void* address, std::size_t length, MemoryKind kind,
                   bool writable, bool remote);
  ~RegisteredMemory() override;
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  [[nodiscard]] std::uint64_t key() const noexcept override { return key_; }
  [[nodiscard]] std::uint64_t remote_address() const noexcept override { return remote_address_; }
  /// What libfabric takes beside a local segment: null where it asks for nothing.
  [[nodiscard]] void* descriptor() const noexcept { return descriptor_; }

 private:
  MemoryRegionHandle region_;
  void* descriptor_ = nullptr;
  std::uint64_t key_ = 0;
  std::uint64_t remote_address_ = 0;
  Keys* keys_ = nullptr;       ///< null where the device chooses keys
  std::uint64_t own_key_ = 0;  ///< taken from keys_
};

}  // namespace lath::providers::ofi
