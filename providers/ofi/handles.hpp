#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "base/unique_handle.hpp"
#include "providers/ofi/library.hpp"

/// Owners of libfabric's objects.
namespace lath::providers::ofi {

template <class Object>
struct ObjectTraits {
  using type = Object*;
  static constexpr type null() { return nullptr; }
  static void destroy(type object) noexcept { fi_close(&object->fid); }
};

using FabricHandle = unique_handle<ObjectTraits<fid_fabric>>;
using DomainHandle = unique_handle<ObjectTraits<fid_domain>>;
using AddressVectorHandle = unique_handle<ObjectTraits<fid_av>>;
using CompletionQueueHandle = unique_handle<ObjectTraits<fid_cq>>;
using EndpointHandle = unique_handle<ObjectTraits<fid_ep>>;
using MemoryRegionHandle = unique_handle<ObjectTraits<fid_mr>>;

struct InfoTraits {
  using type = fi_info*;
  static constexpr type null() { return nullptr; }
  static void destroy(type info) noexcept { library()->freeinfo(info); }
};
/// One fi_info, or a list of them.
using Info = unique_handle<InfoTraits>;

}  // namespace lath::providers::ofi
