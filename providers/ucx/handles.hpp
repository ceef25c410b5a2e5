#pragma once

#include "base/unique_handle.hpp"
#include "providers/ucx/library.hpp"

/// Owners of UCX' objects.
namespace lath::providers::ucx {

struct ConfigTraits {
  using type = ucp_config_t*;
  static constexpr type null() { return nullptr; }
  static void destroy(type config) noexcept { library()->config_release(config); }
};
struct ContextTraits {
  using type = ucp_context_h;
  static constexpr type null() { return nullptr; }
  static void destroy(type context) noexcept { library()->cleanup(context); }
};
struct WorkerTraits {
  using type = ucp_worker_h;
  static constexpr type null() { return nullptr; }
  static void destroy(type worker) noexcept { library()->worker_destroy(worker); }
};

using ConfigHandle = unique_handle<ConfigTraits>;
using ContextHandle = unique_handle<ContextTraits>;
using WorkerHandle = unique_handle<WorkerTraits>;

/// A context with its one worker, which is destroyed first.
struct OpenWorker {
  ContextHandle context;
  WorkerHandle worker;
};

}  // namespace lath::providers::ucx
