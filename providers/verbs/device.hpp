#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "providers/verbs/address.hpp"
#include "providers/verbs/gid.hpp"
#include "providers/verbs/handles.hpp"

namespace lath::providers::verbs {

/// One opened device and the port that is used of it. Move-only.
struct Device {
  std::string name;
  ContextHandle context;
  DomainHandle domain;
  ibv_device_attr granted{};
  std::uint8_t port = 0;
  ibv_port_attr link{};
  std::optional<GidEntry> gid;  ///< what packets carry as source where they have a global route header

  /// The route to a peer's port, for queue pairs and address handles.
  [[nodiscard]] ibv_ah_attr route_to(const Address& peer) const noexcept;
};

/// The names of the devices here that speak InfiniBand's protocol (RoCE too): "rxe0". Throws nothing; empty
/// where libibverbs or the kernel's part is missing.
[[nodiscard]] std::vector<std::string> device_names();

/// Opens a device with its first active port. Throws Error that names the step.
[[nodiscard]] Device open_device(std::string_view name);

}  // namespace lath::providers::verbs
