#pragma once

#include "providers/registry.hpp"

namespace lath::providers::ofi {

/// Providers over libfabric's reliable datagram endpoints.
[[nodiscard]] Family family();

}  // namespace lath::providers::ofi
