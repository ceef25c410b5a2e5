#pragma once

#include "base/unique_handle.hpp"
#include "providers/provider.hpp"
#include "providers/ucx/handles.hpp"

namespace lath::providers::ucx {

/// One range that UCX has mapped; unmapped when destroyed. Peers do not reach it: this provider has no RMA.
class MappedMemory final : public Registration {
 public:
  /// `address` and `length` not 0. Throws Error.
  MappedMemory(ucp_context_h context, void* address, std::size_t length, MemoryKind kind, bool writable);
  ~MappedMemory() override;
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  [[nodiscard]] std::uint64_t key() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t remote_address() const noexcept override { return 0; }
  [[nodiscard]] ucp_mem_h handle() const noexcept { return handle_; }

 private:
  ucp_context_h context_;
  ucp_mem_h handle_ = nullptr;
};

}  // namespace lath::providers::ucx
