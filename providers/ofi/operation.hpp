#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "providers/provider.hpp"

namespace lath::providers::ofi {

enum class OperationKind : std::uint8_t { idle, control_receive, transmit, tagged_receive };

/// What libfabric hands back with a completion. The context comes first: devices may write into it.
struct Operation {
  fi_context2 context{};
  Context user = nullptr;       ///< null: its end is not told, or has been
  std::byte* buffer = nullptr;  ///< of a control_receive
  PeerId peer = 0;
  OperationKind kind = OperationKind::idle;
  bool cancelled = false;     ///< on request
  Operation* next = nullptr;  ///< among the free ones
};

/// A fixed number of operations; taking and giving back allocates nothing.
class OperationPool {
 public:
  explicit OperationPool(std::size_t size);
  /// Null where all are in use.
  [[nodiscard]] Operation* take(OperationKind kind, PeerId peer, Context user) noexcept {
    Operation* operation = free_;
    if (operation == nullptr) return nullptr;
    free_ = operation->next;
    operation->kind = kind;
    operation->peer = peer;
    operation->user = user;
    operation->cancelled = false;
    ++in_use_;
    return operation;
  }
  void give_back(Operation* operation) noexcept {
    operation->kind = OperationKind::idle;
    operation->next = free_;
    free_ = operation;
    --in_use_;
  }
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
  /// The operation in use for a caller's context, or null.
  [[nodiscard]] Operation* find(OperationKind kind, Context user) noexcept;
  /// Visits every operation in use that has a caller's context.
  template <class Visit>
  void for_each(Visit visit) {
    for (Operation& operation : operations_)
      if (operation.kind != OperationKind::idle && operation.user != nullptr) visit(operation);
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return operations_.size() * sizeof(Operation); }

 private:
  std::vector<Operation> operations_;
  Operation* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace lath::providers::ofi
