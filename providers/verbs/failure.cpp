#include "providers/verbs/failure.hpp"

#include <system_error>

#include "providers/verbs/library.hpp"

namespace lath::providers::verbs {

Error failure(int number, const std::string& doing) {
  std::string text = doing + ": " + std::generic_category().message(number);
  switch (number) {
    case ENOMEM:
    case ENOBUFS:
      return Error(Code::no_memory, std::move(text), "libibverbs");
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case ETIMEDOUT:
      return Error(Code::unreachable, std::move(text), "libibverbs");
    default:
      return Error(Domain::verbs, number, std::move(text));
  }
}

Error failure(ibv_wc_status status, const std::string& doing) {
  const char* words = library() != nullptr ? library()->wc_status_str(status) : "libibverbs is missing";
  std::string text = doing + ": " + words;
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
      return Error(Code::unreachable, std::move(text), "libibverbs");
    case IBV_WC_LOC_LEN_ERR:
      return Error(Code::truncated, std::move(text), "libibverbs");
    default:
      return Error(Domain::verbs, status, std::move(text));
  }
}

void check(int number, const char* doing) {
  if (number != 0) throw failure(number, doing);
}

}  // namespace lath::providers::verbs
