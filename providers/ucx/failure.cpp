#include "providers/ucx/failure.hpp"

#include <optional>

#include "providers/ucx/library.hpp"

namespace lath::providers::ucx {
namespace {

std::optional<Code> code_of(ucs_status_t status) {
  switch (status) {
    case UCS_ERR_CANCELED:
      return Code::cancelled;
    case UCS_ERR_MESSAGE_TRUNCATED:
      return Code::truncated;
    case UCS_ERR_NO_MEMORY:
      return Code::no_memory;
    case UCS_ERR_UNREACHABLE:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_REJECTED:
      return Code::unreachable;
    default:
      break;
  }
  if (UCS_IS_ENDPOINT_ERROR(status) || UCS_IS_LINK_ERROR(status)) return Code::unreachable;
  return std::nullopt;
}

}  // namespace

Error failure(ucs_status_t status, const std::string& doing) {
  const std::string text = doing + ": " + library()->status_string(status);
  if (const auto code = code_of(status)) return Error(*code, text, "ucx");
  return Error(Domain::ucx, status, text);
}

void check(ucs_status_t status, const char* doing) {
  if (UCS_STATUS_IS_ERR(status)) throw failure(status, doing);
}

}  // namespace lath::providers::ucx
