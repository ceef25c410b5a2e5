#pragma once

#include "lath/lath.h"

namespace lath::benchmarks {

/// Throws an Error of the status' code and lath_last_error()'s text where a call of the C API failed.
void lath_call(lath_status status, const char* doing);

}  // namespace lath::benchmarks
