#include "providers/ofi/failure.hpp"

#include <rdma/fi_errno.h>

#include <cstdlib>
#include <optional>

#include "providers/ofi/library.hpp"

namespace lath::providers::ofi {
namespace {

std::optional<Code> told_apart(int number) {
  switch (number) {
    case FI_ECANCELED:
      return Code::cancelled;
    case FI_ETRUNC:
    case FI_EMSGSIZE:
      return Code::truncated;
    case FI_ENOMEM:
    case FI_ENOBUFS:
      return Code::no_memory;
    case FI_ECONNREFUSED:
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_EHOSTUNREACH:
    case FI_EHOSTDOWN:
    case FI_ENETUNREACH:
    case FI_ENETDOWN:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case FI_ETIMEDOUT:
    case EPIPE:
      return Code::unreachable;
    default:
      return std::nullopt;
  }
}

}  // namespace

Error failure(long number, const std::string& doing, const std::string& provider_text) {
  const int positive = static_cast<int>(std::labs(number));
  const char* words = library() != nullptr ? library()->strerror(positive) : "libfabric is missing";
  std::string text = doing + ": " + words;
  if (!provider_text.empty() && provider_text != words) text += " (" + provider_text + ")";
  if (const std::optional<Code> code = told_apart(positive))
    return Error(*code, std::move(text), "libfabric");
  return Error(Domain::libfabric, positive, std::move(text));
}

void check(long status, const char* doing) {
  if (status < 0) throw failure(status, doing);
}

}  // namespace lath::providers::ofi
