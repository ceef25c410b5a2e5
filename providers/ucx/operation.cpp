#include "providers/ucx/operation.hpp"

namespace lath::providers::ucx {

Vector as_vector(std::span<const Segment> list, Operation& operation) noexcept {
  if (list.empty()) return {.buffer = &operation, .count = 0};
  if (list.size() == 1) return {.buffer = list.front().address, .count = list.front().length};
  for (std::size_t i = 0; i < list.size(); ++i) operation.list[i] = {list[i].address, list[i].length};
  return {.buffer = operation.list.data(), .count = list.size(), .datatype = ucp_dt_make_iov()};
}

}  // namespace lath::providers::ucx
