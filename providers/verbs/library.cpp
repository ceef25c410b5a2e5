#include "providers/verbs/library.hpp"

#include <sys/utsname.h>

#include <cstdio>
#include <stdexcept>

#include "providers/shared_object.hpp"

namespace lath::providers::verbs {
namespace {

struct Loaded {
  Library table;
  bool usable = false;
  std::string reason;
};

// The structs of the headers are those of this symbol version; IBVERBS_1.0 is the ABI before 2006, kept
// beside.
constexpr const char* symbol_version = "IBVERBS_1.1";

template <class Function>
void find(void* handle, Function& function, const char* name) {
  void* symbol = dlvsym(handle, name, symbol_version);
  if (symbol == nullptr)
    throw std::runtime_error(std::string("libibverbs.so.1 has no ") + name + " of version " + symbol_version);
  function = reinterpret_cast<Function>(symbol);
}

// What later versions brought: null where it is missing.
template <class Function>
void find_newer(void* handle, Function& function, const char* name, const char* version) {
  function = reinterpret_cast<Function>(dlvsym(handle, name, version));
}

void find_all(void* handle, Library& table) {
  find(handle, table.get_device_list, "ibv_get_device_list");
  find(handle, table.free_device_list, "ibv_free_device_list");
  find(handle, table.get_device_name, "ibv_get_device_name");
  find(handle, table.open_device, "ibv_open_device");
  find(handle, table.close_device, "ibv_close_device");
  find(handle, table.query_device, "ibv_query_device");
  find(handle, table.query_port, "ibv_query_port");
  find(handle, table.query_gid, "ibv_query_gid");
  find(handle, table.alloc_pd, "ibv_alloc_pd");
  find(handle, table.dealloc_pd, "ibv_dealloc_pd");
  find(handle, table.reg_mr, "ibv_reg_mr");
  find_newer(handle, table.reg_mr_iova, "ibv_reg_mr_iova", "IBVERBS_1.7");
  find_newer(handle, table.reg_dmabuf_mr, "ibv_reg_dmabuf_mr", "IBVERBS_1.12");
  find(handle, table.dereg_mr, "ibv_dereg_mr");
  find(handle, table.create_cq, "ibv_create_cq");
  find(handle, table.destroy_cq, "ibv_destroy_cq");
  find(handle, table.create_srq, "ibv_create_srq");
  find(handle, table.destroy_srq, "ibv_destroy_srq");
  find(handle, table.create_qp, "ibv_create_qp");
  find(handle, table.modify_qp, "ibv_modify_qp");
  find(handle, table.destroy_qp, "ibv_destroy_qp");
  find(handle, table.create_ah, "ibv_create_ah");
  find(handle, table.destroy_ah, "ibv_destroy_ah");
  find(handle, table.fork_init, "ibv_fork_init");
  find(handle, table.wc_status_str, "ibv_wc_status_str");
}

// Since 5.12 a forked child gets copies of the pages that the device may reach, so that both processes keep
// theirs. Before, ibv_fork_init() keeps such pages from the child altogether, which dies where it touches
// what else lies in them: the lesser evil there only.
bool kernel_copies_at_fork() {
  utsname system{};
  int major = 0, minor = 0;
  if (uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 12);
}

Loaded load() {
  Loaded loaded;
  void* handle = load_shared_object("libibverbs.so.1", loaded.reason);
  if (handle == nullptr) return loaded;
  try {
    find_all(handle, loaded.table);
    // Before anything is registered.
    if (!kernel_copies_at_fork()) loaded.table.fork_init();
    loaded.usable = true;
  } catch (const std::exception& problem) {
    loaded.reason = problem.what();
  }
  return loaded;
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

}  // namespace lath::providers::verbs
