#pragma once

#include <dlfcn.h>

#include <cstdlib>

namespace lath::providers {

/// UCX writes its warnings to standard output, amid what a program says there: has them go to standard error
/// unless UCX_LOG_FILE says otherwise. Before any part of UCX is loaded, whose constructors read the
/// environment. Set-up only.
inline void prepare_ucx_environment() {
  setenv("UCX_LOG_FILE", "stderr", 0);
  // ThreadSanitizer maps memory in threads that it has not set up yet, where UCX' hooks crash.
  if (dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) setenv("UCX_MEM_EVENTS", "no", 0);
}

}  // namespace lath::providers
