#include "providers/ucx/library.hpp"

#include "providers/kept_signals.hpp"
#include "providers/shared_object.hpp"
#include "providers/ucx_environment.hpp"

namespace lath::providers::ucx {
namespace {

using Loaded = LoadedLibrary<Library>;
constexpr const char* file_name = "libucp.so.0";

template <class Function>
void find(void* handle, Function& function, const char* name) {
  find_symbol(handle, function, file_name, name);
}

void find_all(void* handle, Library& table) {
  find(handle, table.version_string, "ucp_get_version_string");
  find(handle, table.config_read, "ucp_config_read");
  find(handle, table.config_modify, "ucp_config_modify");
  find(handle, table.config_release, "ucp_config_release");
  find(handle, table.init_version, "ucp_init_version");
  find(handle, table.cleanup, "ucp_cleanup");
  find(handle, table.context_query, "ucp_context_query");
  find(handle, table.worker_create, "ucp_worker_create");
  find(handle, table.worker_destroy, "ucp_worker_destroy");
  find(handle, table.worker_get_address, "ucp_worker_get_address");
  find(handle, table.worker_release_address, "ucp_worker_release_address");
  find(handle, table.worker_set_am_recv_handler, "ucp_worker_set_am_recv_handler");
  find(handle, table.worker_progress, "ucp_worker_progress");
  find(handle, table.ep_create, "ucp_ep_create");
  find(handle, table.ep_close_nbx, "ucp_ep_close_nbx");
  find(handle, table.am_send_nbx, "ucp_am_send_nbx");
  find(handle, table.tag_send_nbx, "ucp_tag_send_nbx");
  find(handle, table.tag_recv_nbx, "ucp_tag_recv_nbx");
  find(handle, table.request_cancel, "ucp_request_cancel");
  find(handle, table.request_check_status, "ucp_request_check_status");
  find(handle, table.request_free, "ucp_request_free");
  find(handle, table.mem_map, "ucp_mem_map");
  find(handle, table.mem_unmap, "ucp_mem_unmap");
  // Of libucs, which libucp brings along.
  find(handle, table.status_string, "ucs_status_string");
}

Loaded load() {
  const KeptSignals kept;
  prepare_ucx_environment();
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

}  // namespace lath::providers::ucx
