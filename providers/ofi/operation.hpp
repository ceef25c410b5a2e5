#pragma once

#include <rdma/fabric.h>

#include <cstddef>

#include "providers/operation_pool.hpp"

namespace lath::providers::ofi {

/// What libfabric hands back with a completion. The context comes first: devices may write into it.
struct Operation {
  fi_context2 context{};
  Context user = nullptr;
  std::byte* buffer = nullptr;  ///< of a control_receive
  PeerId peer = 0;
  OperationKind kind = OperationKind::idle;
  bool cancelled = false;
  Operation* next = nullptr;
};

using OperationPool = providers::OperationPool<Operation>;

}  // namespace lath::providers::ofi
