#include "providers/ofi/operation.hpp"

#include <algorithm>

namespace lath::providers::ofi {

OperationPool::OperationPool(std::size_t size) : operations_(size) {
  for (Operation& operation : operations_) {
    operation.next = free_;
    free_ = &operation;
  }
}

Operation* OperationPool::find(OperationKind kind, Context user) noexcept {
  const auto found = std::find_if(operations_.begin(), operations_.end(), [&](const Operation& operation) {
    return operation.kind == kind && operation.user == user;
  });
  return found == operations_.end() ? nullptr : &*found;
}

}  // namespace lath::providers::ofi
