#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <memory>

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
  Operation* batch = nullptr;      ///< of a transmit: what it is a part of, which is never handed over itself
  std::size_t parts = 0;           ///< of a batch: under way
  std::unique_ptr<Error> failure;  ///< of a batch: the first of its parts'
  Operation* next = nullptr;
};

using OperationPool = providers::OperationPool<Operation>;

}  // namespace lath::providers::ofi
