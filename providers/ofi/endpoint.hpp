#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "providers/ofi/handles.hpp"
#include "providers/provider.hpp"

namespace lath::providers::ofi {

/// One enabled endpoint with all it stands on; closes in the right order. Move-only.
struct Endpoint {
  Info info;
  FabricHandle fabric;
  DomainHandle domain;
  AddressVectorHandle addresses;
  CompletionQueueHandle queue;  ///< of sends and receives, in FI_CQ_FORMAT_MSG
  EndpointHandle handle;

  std::size_t transmit_depth = 0;  ///< operations that initiate, outstanding at once
  std::size_t receive_depth = 0;   ///< posted receives, those of the receive buffers included

  bool fence = false;  ///< an operation can be made to wait for all before it

  [[nodiscard]] bool needs(int mr_mode_bit) const noexcept {
    return (info.get()->domain_attr->mr_mode & mr_mode_bit) != 0;
  }
};

/// Opens and enables an endpoint as offered. Throws Error that names the step.
[[nodiscard]] Endpoint open_endpoint(Info info);

/// libfabric's address of the endpoint.
[[nodiscard]] std::vector<std::byte> endpoint_address(const Endpoint& endpoint);
/// An endpoint address as people read it.
[[nodiscard]] std::string printable(const Endpoint& endpoint, const void* address);

/// Control messages are at most so long: the size of a receive buffer.
inline constexpr std::size_t control_bytes = std::size_t{16} << 10;
/// Receive buffers that are posted at any time, where the device takes so many.
inline constexpr std::size_t receive_buffers = 64;
/// At most so much is injected, whatever the device grants: a list is gathered on the stack for it.
inline constexpr std::size_t most_injected = 4096;
/// Lists are at most so long, whatever the device grants: they are translated on the stack.
inline constexpr std::size_t longest_list = 64;

/// What the endpoint grants, from what libfabric returned. device_memory stays false: it is proven elsewhere.
[[nodiscard]] Limits granted(const Endpoint& endpoint);

}  // namespace lath::providers::ofi
