#include "benchmarks/lath_call.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace lath::benchmarks {

void lath_call(lath_status status, const char* doing) {
  if (status == LATH_OK) return;
  throw Error(static_cast<Code>(-static_cast<int>(status)), fmt::format("{}: {}", doing, lath_last_error()));
}

}  // namespace lath::benchmarks
