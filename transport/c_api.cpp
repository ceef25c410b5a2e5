#include "transport/c_api.hpp"

#include <fmt/format.h>

#include <string>

namespace lath::transport::c_api {
namespace {

thread_local std::string last_error;

lath_status status_of(Code code) noexcept {
  return static_cast<lath_status>(-static_cast<int>(code));
}

}  // namespace

lath_status remember(const Error& error) noexcept {
  return remember(error.lath_code(), error.what());
}

lath_status remember(Code code, const char* text) noexcept {
  try {
    last_error = text;
  } catch (...) {
    last_error.clear();
  }
  return status_of(code);
}

lath_status status_of(const Result& result) noexcept {
  return result.is_error() ? remember(result.error()) : LATH_OK;
}

void refuse(const char* argument, std::string_view why) {
  throw Error(Code::invalid_argument, fmt::format("{} {}", argument, why));
}

std::int64_t not_negative(std::int64_t value, const char* argument) {
  if (value < 0) refuse(argument, fmt::format("is {}, which is negative", value));
  return value;
}

}  // namespace lath::transport::c_api

using namespace lath;
using namespace lath::transport::c_api;

const char* lath_status_string(lath_status status) {
  switch (status) {
    case LATH_OK:
      return "success";
    case LATH_ERR_ARGUMENT:
      return "invalid argument";
    case LATH_ERR_PARSE:
      return "text that cannot be read";
    case LATH_ERR_TRUNCATED:
      return "message longer than the receive buffer";
    case LATH_ERR_NO_MEMORY:
      return "out of memory";
    case LATH_ERR_NOT_SUPPORTED:
      return "not supported";
    case LATH_ERR_UNREACHABLE:
      return "peer cannot be reached";
    case LATH_ERR_CORRUPT:
      return "corrupt message";
    case LATH_ERR_PROVIDER:
      return "the network provider failed";
    case LATH_ERR_GPU:
      return "the GPU driver failed";
    case LATH_ERR_CANCELLED:
      return "cancelled";
    case LATH_ERR_MEMORY_KIND:
      return "wrong kind of memory for the operation";
    case LATH_ERR_BAD_ADDRESS:
      return "memory that is not mapped";
    case LATH_ERR_INTERNAL:
      return "internal error";
  }
  return "unknown status";
}

const char* lath_last_error(void) {
  return last_error.c_str();
}

#define LATH_TEXT_OF(number) #number
#define LATH_VERSION_TEXT(major, minor, patch) \
  LATH_TEXT_OF(major) "." LATH_TEXT_OF(minor) "." LATH_TEXT_OF(patch)

const char* lath_version(void) {
  return LATH_VERSION_TEXT(LATH_VERSION_MAJOR, LATH_VERSION_MINOR, LATH_VERSION_PATCH);
}
