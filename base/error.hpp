#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace lath {

/// Whose numbering an Error's code follows.
enum class Domain { lath, mpi, cuda, verbs, libfabric, ucx, system };

std::string_view name(Domain domain);

/// Codes of Domain::lath. The C API returns them as negative lath_status values (lath.h), so their order is
/// ABI.
enum class Code : int {
  invalid_argument = 1,   ///< the caller passed something that can never work
  parse = 2,              ///< text that is not a type-spec, a number, a provider name ...
  truncated = 3,          ///< a message longer than the receive buffer; the part that fits was delivered
  no_memory = 4,          ///< host, device or registered memory is exhausted
  not_supported = 5,      ///< neither hardware nor fallback can do it
  unreachable = 6,        ///< the peer cannot be connected to, or died
  corrupt = 7,            ///< a wire message whose fields contradict each other
  provider = 8,           ///< a NIC provider reported a failure
  gpu = 9,                ///< the GPU driver reported a failure
  cancelled = 10,         ///< the request was cancelled before it matched
  not_device_ready = 11,  ///< memory kind and operation do not fit (inject from device memory ...)
  bad_address = 12,       ///< a type reaches memory that is not mapped
  internal = 13,          ///< an invariant of Lath itself does not hold
};

std::string_view name(Code code);

/// One failure: whose code, which code, what happened to what and what to try, and where. Thrown by set-up;
/// carried by Result on the data path, which never throws.
class Error : public std::exception {
 public:
  Error(Domain domain, int code, std::string what, std::string where = {});
  Error(Code code, std::string what, std::string where = {});

  [[nodiscard]] Domain domain() const noexcept { return domain_; }
  [[nodiscard]] int code() const noexcept { return code_; }
  /// The lath code nearest to this error: itself in Domain::lath, else provider, gpu or internal by domain.
  [[nodiscard]] Code lath_code() const noexcept;
  /// "domain code: what (where)", one line.
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

 private:
  Domain domain_;
  int code_;
  std::string where_;
  std::string text_;
};

}  // namespace lath
