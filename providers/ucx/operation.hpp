#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "providers/operation_pool.hpp"
#include "providers/ucx/library.hpp"

namespace lath::providers::ucx {

/// Segments of one list. UCX takes longer ones, but keeps no copy of them, so every operation has room for
/// one.
inline constexpr std::size_t longest_list = 16;

class UcxProvider;

/// One operation of UCX' from its posting to its end.
struct Operation {
  UcxProvider* owner = nullptr;
  Context user = nullptr;
  void* request = nullptr;       ///< UCX', while it works on it
  std::size_t bytes = 0;         ///< received
  ucs_status_t status = UCS_OK;  ///< once ended
  PeerId peer = 0;
  OperationKind kind = OperationKind::idle;
  bool cancelled = false;
  Operation* next = nullptr;  ///< among the free ones, or among those that have ended
  ucp_tag_recv_info_t received{};
  std::array<ucp_dt_iov_t, longest_list> list{};
};

using OperationPool = providers::OperationPool<Operation>;

/// Operations that have ended and have not been told of, in the order of their ends.
class EndedOperations {
 public:
  void add(Operation* operation) noexcept {
    operation->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = operation;
    last_ = operation;
  }
  /// Null where there is none.
  [[nodiscard]] Operation* take() noexcept {
    Operation* operation = first_;
    if (operation == nullptr) return nullptr;
    first_ = operation->next;
    if (first_ == nullptr) last_ = nullptr;
    return operation;
  }

 private:
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
};

/// A list as UCX takes it: one piece of memory, or entries that lie in the operation.
struct Vector {
  const void* buffer = nullptr;
  std::size_t count = 0;
  ucp_datatype_t datatype = ucp_dt_make_contig(1);
};
[[nodiscard]] Vector as_vector(std::span<const Segment> list, Operation& operation) noexcept;

}  // namespace lath::providers::ucx
