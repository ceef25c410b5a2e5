#include "providers/ofi/library.hpp"

#include <cstdlib>

#include "providers/kept_signals.hpp"
#include "providers/shared_object.hpp"

namespace lath::providers::ofi {
namespace {

using Loaded = LoadedLibrary<Library>;
constexpr const char* file_name = "libfabric.so.1";

// The layout of fi_info grew with the library; each layout has its symbol version. A default look-up would
// give the newest, which headers of an older build do not fit.
constexpr const char* info_symbol_version() {
  if (api_version < FI_VERSION(1, 20)) return "FABRIC_1.3";
  if (api_version < FI_VERSION(2, 0)) return "FABRIC_1.7";
  return nullptr;
}

template <class Function>
void find(void* handle, Function& function, const char* name, const char* version) {
  find_symbol(handle, function, file_name, name, version);
}

void find_all(void* handle, Library& table) {
  find(handle, table.getinfo, "fi_getinfo", info_symbol_version());
  find(handle, table.freeinfo, "fi_freeinfo", info_symbol_version());
  find(handle, table.dupinfo, "fi_dupinfo", info_symbol_version());
  find(handle, table.fabric, "fi_fabric", nullptr);
  find(handle, table.strerror, "fi_strerror", nullptr);
  find(handle, table.version, "fi_version", nullptr);
}

// libfabric brings libpsm_infinipath along, whose constructor takes over the process's fatal signals to write
// "*.btr" files into the current folder. A user who wants them sets the variable to 0.
void decline_signal_handlers() {
  setenv("IPATH_NO_BACKTRACE", "1", 0);
}

Loaded load() {
  const KeptSignals kept;
  decline_signal_handlers();
  return load_library<Library>(file_name, find_all);
}

const Loaded& loaded() {
  // Leaked on purpose: handles may be closed while static objects are destroyed.
  static const Loaded* instance = new Loaded(load());
  return *instance;
}

}  // namespace

const Library* library() noexcept {
  return loaded().usable ? &loaded().table : nullptr;
}

const std::string& library_reason() {
  return loaded().reason;
}

}  // namespace lath::providers::ofi
