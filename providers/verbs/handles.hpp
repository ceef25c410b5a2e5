#pragma once

#include "base/unique_handle.hpp"
#include "providers/verbs/library.hpp"

/// Owners of libibverbs' objects.
namespace lath::providers::verbs {

template <class Object, auto Destroy>
struct ObjectTraits {
  using type = Object*;
  static constexpr type null() { return nullptr; }
  static void destroy(type object) noexcept { (library()->*Destroy)(object); }
};

using ContextHandle = unique_handle<ObjectTraits<ibv_context, &Library::close_device>>;
using DomainHandle = unique_handle<ObjectTraits<ibv_pd, &Library::dealloc_pd>>;
using CompletionQueueHandle = unique_handle<ObjectTraits<ibv_cq, &Library::destroy_cq>>;
using SharedReceiveQueueHandle = unique_handle<ObjectTraits<ibv_srq, &Library::destroy_srq>>;
using QueuePairHandle = unique_handle<ObjectTraits<ibv_qp, &Library::destroy_qp>>;
using MemoryRegionHandle = unique_handle<ObjectTraits<ibv_mr, &Library::dereg_mr>>;
using AddressHandle = unique_handle<ObjectTraits<ibv_ah, &Library::destroy_ah>>;

}  // namespace lath::providers::verbs
