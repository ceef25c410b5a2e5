#pragma once

#include <infiniband/verbs.h>

#include <string>

namespace lath::providers::verbs {

/// libibverbs' own symbols, found at run time so that the library starts where libibverbs is absent. Posting
/// and polling are inline calls through the operations of the opened device, and need none of these.
struct Library {
  decltype(&::ibv_get_device_list) get_device_list = nullptr;
  decltype(&::ibv_free_device_list) free_device_list = nullptr;
  decltype(&::ibv_get_device_name) get_device_name = nullptr;
  decltype(&::ibv_open_device) open_device = nullptr;
  decltype(&::ibv_close_device) close_device = nullptr;
  decltype(&::ibv_query_device) query_device = nullptr;
  /// Fills the part of ibv_port_attr that every version has: all but the flags at its end.
  int (*query_port)(ibv_context*, std::uint8_t, ibv_port_attr*) = nullptr;
  decltype(&::ibv_query_gid) query_gid = nullptr;
  decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
  decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
  decltype(&::ibv_reg_mr) reg_mr = nullptr;
  decltype(&::ibv_reg_mr_iova) reg_mr_iova = nullptr;      ///< null in libraries before 1.7
  decltype(&::ibv_reg_dmabuf_mr) reg_dmabuf_mr = nullptr;  ///< null in libraries before 1.12
  decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
  decltype(&::ibv_create_cq) create_cq = nullptr;
  decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
  decltype(&::ibv_create_srq) create_srq = nullptr;
  decltype(&::ibv_destroy_srq) destroy_srq = nullptr;
  decltype(&::ibv_create_qp) create_qp = nullptr;
  decltype(&::ibv_modify_qp) modify_qp = nullptr;
  decltype(&::ibv_destroy_qp) destroy_qp = nullptr;
  decltype(&::ibv_create_ah) create_ah = nullptr;
  decltype(&::ibv_destroy_ah) destroy_ah = nullptr;
  decltype(&::ibv_fork_init) fork_init = nullptr;
  decltype(&::ibv_wc_status_str) wc_status_str = nullptr;
};

/// Loads libibverbs at first use; null where that fails. Never unloaded. Thread safe.
[[nodiscard]] const Library* library() noexcept;
/// Why library() is null.
[[nodiscard]] const std::string& library_reason();

}  // namespace lath::providers::verbs
