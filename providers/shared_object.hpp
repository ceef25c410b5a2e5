#pragma once

#include <dlfcn.h>

#include <string>

namespace lath::providers {

/// Loads a library for the rest of the process, all symbols bound. `visibility` is RTLD_LOCAL, or RTLD_GLOBAL
/// where later libraries use its symbols without naming it. Null with the loader's words in `reason`.
[[nodiscard]] inline void* load_shared_object(const char* name, int visibility, std::string& reason) {
  void* handle = dlopen(name, RTLD_NOW | visibility | RTLD_NODELETE);
  if (handle != nullptr) return handle;
  const char* text = dlerror();
  reason = text != nullptr ? text : std::string(name) + " cannot be loaded";
  return nullptr;
}

}  // namespace lath::providers
