#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "tests/cxi_stand_in/request.hpp"

/// libfabric's objects as the stand-in gives them out: each stands before one of the tcp provider, which
/// carries the data. An object that others use refuses to close with -FI_EBUSY, as cxi's do. Calls on the
/// objects of one domain do not overlap (FI_THREAD_DOMAIN).
namespace lath::cxi_stand_in {

struct Fabric : fid_fabric {
  fid_fabric* carrier = nullptr;
  std::size_t users = 0;
};

struct Domain : fid_domain {
  fid_domain* carrier = nullptr;
  Fabric* fabric = nullptr;
  bool provider_keys = false;
  bool device_memory = false;  ///< FI_HMEM was asked for
  std::set<std::uint64_t> client_keys;
  std::uint64_t next_provider_key = 0;
  std::size_t users = 0;
  RequestPool requests;
};

struct AddressVector : fid_av {
  fid_av* carrier = nullptr;
  Domain* domain = nullptr;
  std::size_t users = 0;
};

struct Endpoint;

struct CompletionQueue : fid_cq {
  fid_cq* carrier = nullptr;
  Domain* domain = nullptr;
  std::size_t entry_bytes = 0;  ///< of the format asked for
  std::size_t size = 0;         ///< entries asked for
  std::size_t reserved = 0;     ///< entries for operations under way and for ended ones that were not read
  std::deque<fi_cq_tagged_entry> ended;
  std::deque<fi_cq_err_entry> failed;
  std::vector<Endpoint*> endpoints;
};

/// Known to the carrier from its enabling on, as no peer can reach it before.
struct MemoryRegion : fid_mr {
  fid_mr* carrier = nullptr;
  Domain* domain = nullptr;
  Endpoint* endpoint = nullptr;
  void* address = nullptr;  ///< that the processor can use
  std::size_t length = 0;
  std::uint64_t access = 0;
  std::uint64_t client_key = 0;
  [[nodiscard]] bool remote() const { return (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0; }
};

struct Endpoint : fid_ep {
  fid_ep* carrier = nullptr;
  Domain* domain = nullptr;
  AddressVector* addresses = nullptr;
  CompletionQueue* transmit_queue = nullptr;
  CompletionQueue* receive_queue = nullptr;
  bool selective_transmit = false;  ///< completions of those operations alone that ask for them
  bool selective_receive = false;
  bool enabled = false;
  bool fence = false;                               ///< FI_FENCE was asked for
  std::size_t transmit_size = 0, receive_size = 0;  ///< as asked for
  std::size_t transmits = 0, receives = 0;          ///< accepted and not ended
  std::size_t issued = 0;                           ///< transmits that the carrier has
  std::size_t regions = 0;                          ///< bound to it
  std::deque<Request*> held;                        ///< accepted with FI_MORE: no doorbell yet
  std::deque<Request*> rung;                        ///< that the carrier has not taken yet
  std::deque<Request*> listening;                   ///< receives that the carrier has not taken yet
  std::vector<Request*> posted;                     ///< receives that the carrier has
};

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context);
int open_address_vector(fid_domain* domain, fi_av_attr* attributes, fid_av** vector, void* context);
int open_completion_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context);
int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context);
int register_attributes(fid* domain, const fi_mr_attr* attributes, std::uint64_t flags, fid_mr** region);

/// What every object can be asked for; the rest of the table is empty, however long it is in this libfabric.
inline fi_ops calls_of_object(int (*close)(fid*), int (*bind)(fid*, fid*, std::uint64_t) = nullptr,
                              int (*control)(fid*, int, void*) = nullptr) {
  fi_ops calls{};
  calls.size = sizeof calls;
  calls.close = close;
  calls.bind = bind;
  calls.control = control;
  return calls;
}

/// The outer object whose first member a fid is.
template <class Object, class Outer>
Object& object(fid* handle) {
  return *static_cast<Object*>(reinterpret_cast<Outer*>(handle));
}

}  // namespace lath::cxi_stand_in
