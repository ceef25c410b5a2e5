#pragma once

#include "providers/registry.hpp"

namespace lath::providers::verbs {

/// Providers over libibverbs: one for each RDMA device, "verbs:rxe0".
[[nodiscard]] Family family();

}  // namespace lath::providers::verbs
