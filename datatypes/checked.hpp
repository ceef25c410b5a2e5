#pragma once

#include <cstdint>

#include "base/error.hpp"

namespace lath {

/// 64-bit arithmetic that throws Error(invalid_argument), naming `what`, instead of wrapping.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result))
    throw Error(Code::invalid_argument, std::string(what) + " leaves 64 bits");
  return result;
}

inline std::int64_t checked_subtract(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result))
    throw Error(Code::invalid_argument, std::string(what) + " leaves 64 bits");
  return result;
}

inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw Error(Code::invalid_argument, std::string(what) + " leaves 64 bits");
  return result;
}

}  // namespace lath
