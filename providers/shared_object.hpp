#pragma once

#include <dlfcn.h>

#include <string>

namespace lath::providers {

/// Loads a library for the rest of the process, all symbols bound, none of them seen by libraries that do not
/// name it. Null with the loader's words in `reason`.
[[nodiscard]] inline void* load_shared_object(const char* name, std::string& reason) {
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle != nullptr) return handle;
  const char* text = dlerror();
  reason = text != nullptr ? text : std::string(name) + " cannot be loaded";
  return nullptr;
}

}  // namespace lath::providers
