#pragma once

#include <dlfcn.h>

#include <stdexcept>
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

/// Sets `function` to a symbol of the library, of that version where one is given. Throws std::runtime_error
/// that names both.
template <class Function>
void find_symbol(void* handle, Function& function, const char* library, const char* name,
                 const char* version = nullptr) {
  void* symbol = version != nullptr ? dlvsym(handle, name, version) : dlsym(handle, name);
  if (symbol == nullptr)
    throw std::runtime_error(std::string(library) + " has no " + name +
                             (version != nullptr ? std::string(" of version ") + version : std::string()));
  function = reinterpret_cast<Function>(symbol);
}

/// A library's functions, or why they are not there.
template <class Table>
struct LoadedLibrary {
  Table table;
  bool usable = false;
  std::string reason;
};

/// Loads a library and has `fill(handle, table)` find its functions, which may throw.
template <class Table, class Fill>
[[nodiscard]] LoadedLibrary<Table> load_library(const char* name, const Fill& fill) {
  LoadedLibrary<Table> loaded;
  void* handle = load_shared_object(name, loaded.reason);
  if (handle == nullptr) return loaded;
  try {
    fill(handle, loaded.table);
    loaded.usable = true;
  } catch (const std::exception& problem) {
    loaded.reason = problem.what();
  }
  return loaded;
}

}  // namespace lath::providers
