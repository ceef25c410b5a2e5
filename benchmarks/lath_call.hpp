#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/unique_handle.hpp"
#include "lath/lath.h"

/// The C API from C++, for programs over it: owned handles, and failures as exceptions.
namespace lath::benchmarks {

/// Throws a Failure (an Error, or a class made like one) of the status' code and lath_last_error()'s text
/// where a call of the C API failed.
template <class Failure = Error>
void lath_call(lath_status status, std::string_view doing) {
  if (status == LATH_OK) return;
  throw Failure(static_cast<Code>(-static_cast<int>(status)),
                fmt::format("{}: {}", doing, lath_last_error()));
}

struct WorkerTraits {
  using type = lath_worker;
  static constexpr type null() { return nullptr; }
  static void destroy(type worker) noexcept { lath_worker_destroy(worker); }
};
struct TypeTraits {
  using type = lath_type;
  static constexpr type null() { return nullptr; }
  static void destroy(type datatype) noexcept { lath_type_free(datatype); }
};
struct RequestTraits {
  using type = lath_request;
  static constexpr type null() { return nullptr; }
  static void destroy(type request) noexcept { lath_request_free(request); }
};
using Worker = unique_handle<WorkerTraits>;
using Type = unique_handle<TypeTraits>;
using PersistentRequest = unique_handle<RequestTraits>;

/// A worker's address, as lath_connect takes it. Throws as lath_call().
template <class Failure = Error>
std::vector<std::byte> worker_address(lath_worker worker) {
  std::vector<std::byte> address(1024);
  std::size_t length = address.size();
  lath_call<Failure>(lath_worker_address(worker, address.data(), &length), "asking for the worker's address");
  address.resize(length);
  return address;
}

/// One of the worker's counters. Throws as lath_call().
template <class Failure = Error>
std::uint64_t worker_counter(lath_worker worker, const char* name) {
  std::uint64_t value = 0;
  lath_call<Failure>(lath_worker_counter(worker, name, &value), name);
  return value;
}

}  // namespace lath::benchmarks
