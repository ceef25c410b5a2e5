#include "base/error.hpp"

#include <fmt/format.h>

namespace lath {

std::string_view name(Domain domain) {
  switch (domain) {
    case Domain::lath:
      return "lath";
    case Domain::mpi:
      return "mpi";
    case Domain::cuda:
      return "cuda";
    case Domain::verbs:
      return "verbs";
    case Domain::libfabric:
      return "libfabric";
    case Domain::ucx:
      return "ucx";
    case Domain::system:
      return "system";
  }
  return "unknown";
}

std::string_view name(Code code) {
  switch (code) {
    case Code::invalid_argument:
      return "invalid argument";
    case Code::parse:
      return "parse error";
    case Code::truncated:
      return "message truncated";
    case Code::no_memory:
      return "out of memory";
    case Code::not_supported:
      return "not supported";
    case Code::unreachable:
      return "peer unreachable";
    case Code::corrupt:
      return "corrupt wire message";
    case Code::provider:
      return "provider failure";
    case Code::gpu:
      return "GPU driver failure";
    case Code::cancelled:
      return "cancelled";
    case Code::not_device_ready:
      return "wrong memory kind for the operation";
    case Code::bad_address:
      return "bad address";
    case Code::internal:
      return "internal error";
  }
  return "unknown";
}

Error::Error(Domain domain, int code, std::string what, std::string where)
    : domain_(domain), code_(code), where_(std::move(where)) {
  text_ = domain == Domain::lath ? fmt::format("{}: {}", name(static_cast<Code>(code)), what)
                                 : fmt::format("{} error {}: {}", name(domain), code, what);
  if (!where_.empty()) text_ += fmt::format(" ({})", where_);
}

Error::Error(Code code, std::string what, std::string where)
    : Error(Domain::lath, static_cast<int>(code), std::move(what), std::move(where)) {}

Code Error::lath_code() const noexcept {
  switch (domain_) {
    case Domain::lath:
      return static_cast<Code>(code_);
    case Domain::cuda:
      return Code::gpu;
    case Domain::verbs:
    case Domain::libfabric:
    case Domain::ucx:
      return Code::provider;
    case Domain::mpi:
    case Domain::system:
      break;
  }
  return Code::internal;
}

}  // namespace lath
