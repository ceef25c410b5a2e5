#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "providers/provider.hpp"

namespace lath::providers {

enum class OperationKind : std::uint8_t { idle, control_receive, transmit, tagged_receive };

/// A fixed number of a library's operations; taking and giving back allocates nothing. An Operation has the
/// members
///   Context user = nullptr;      the caller's; null: its end is not told, or has been
///   PeerId peer = 0;
///   OperationKind kind = OperationKind::idle;
///   bool cancelled = false;      on request
///   Operation* next = nullptr;   among the free ones
template <class Operation>
class OperationPool {
 public:
  explicit OperationPool(std::size_t size) : operations_(size) {
    for (Operation& operation : operations_) {
      operation.next = free_;
      free_ = &operation;
    }
  }
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
  [[nodiscard]] std::size_t size() const noexcept { return operations_.size(); }
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
  /// The operation in use for a caller's context, or null.
  [[nodiscard]] Operation* find(OperationKind kind, Context user) noexcept {
    const auto found = std::find_if(operations_.begin(), operations_.end(), [&](const Operation& operation) {
      return operation.kind == kind && operation.user == user;
    });
    return found == operations_.end() ? nullptr : &*found;
  }
  /// Visits every operation in use that has a caller's context.
  template <class Visit>
  void for_each(Visit visit) {
    for (Operation& operation : operations_)
      if (operation.kind != OperationKind::idle && operation.user != nullptr) visit(operation);
  }
  /// Visits every operation, in use or not.
  template <class Visit>
  void for_each_slot(Visit visit) {
    for (Operation& operation : operations_) visit(operation);
  }
  /// Visits every operation in use.
  template <class Visit>
  void for_each_in_use(Visit visit) {
    for (Operation& operation : operations_)
      if (operation.kind != OperationKind::idle) visit(operation);
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return operations_.size() * sizeof(Operation); }

 private:
  std::vector<Operation> operations_;
  Operation* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace lath::providers
