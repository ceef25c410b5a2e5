#pragma once

#include <cstdlib>

namespace lath::providers {

/// UCX writes its warnings to standard output, amid what a program says there: has them go to standard error
/// unless UCX_LOG_FILE says otherwise. Before any part of UCX is loaded, whose constructors read the
/// environment. Set-up only.
inline void ucx_log_to_standard_error() {
  setenv("UCX_LOG_FILE", "stderr", 0);
}

}  // namespace lath::providers
