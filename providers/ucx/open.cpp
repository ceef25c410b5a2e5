#include "providers/ucx/open.hpp"

#include <cstdlib>
#include <filesystem>

#include "gpu/device.hpp"
#include "providers/kept_signals.hpp"
#include "providers/loop_back.hpp"
#include "providers/ucx/failure.hpp"
#include "providers/ucx/provider.hpp"

namespace lath::providers::ucx {
namespace {

constexpr std::string_view family_prefix = "ucx:";
// Where UCX 1.13 wires reliable connections up through ud_verbs, as it does on devices other than mlx5, it
// hangs or ends the process ("unhandled timeout").
constexpr const char* all_but_unsound = "^ud_verbs,rc_verbs";
constexpr const char* over_verbs = "ucx:rc_verbs,tcp";

bool has_rdma_device() {
  std::error_code none;
  return !std::filesystem::is_empty("/sys/class/infiniband", none) && !none;
}

/// Whether a list as UCX_TLS takes it may lead through shared memory.
bool admits_shared_memory(std::string transports) {
  const char* configured = std::getenv("UCX_TLS");
  if (transports == "all" && configured != nullptr) transports = configured;
  if (transports.starts_with("all") || transports.starts_with('^')) return true;
  for (const char* name : {"shm", "sm", "mm", "posix", "sysv", "cma", "knem", "xpmem"})
    if (transports.find(name) != std::string::npos) return true;
  return false;
}

ContextHandle open_context(const std::string& transports) {
  ucp_config_t* read = nullptr;
  check(library()->config_read(nullptr, nullptr, &read), "ucp_config_read");
  const ConfigHandle config(read);
  if (transports != "all")
    check(library()->config_modify(config.get(), "TLS", transports.c_str()), "ucp_config_modify");
  else if (has_rdma_device() && std::getenv("UCX_TLS") == nullptr)
    check(library()->config_modify(config.get(), "TLS", all_but_unsound), "ucp_config_modify");
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_TAG;
  ContextHandle context;
  const ucs_status_t status =
      library()->init_version(UCP_API_MAJOR, UCP_API_MINOR, &parameters, config.get(), context.receive());
  if (status == UCS_ERR_NO_DEVICE)
    throw Error(Code::not_supported, "UCX has no transport of \"" + transports + "\" here", "ucx");
  check(status, "ucp_init");
  return context;
}

OpenWorker open_worker(const std::string& transports) {
  const KeptSignals kept;
  OpenWorker open;
  open.context = open_context(transports);
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(library()->worker_create(open.context.get(), &parameters, open.worker.receive()),
        "ucp_worker_create");
  return open;
}

bool knows_device_memory(ucp_context_h context) {
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  check(library()->context_query(context, &attributes), "ucp_context_query");
  return (attributes.memory_types & (1ULL << UCS_MEMORY_TYPE_CUDA)) != 0;
}

/// Why device memory cannot be used; empty where a loop-back transfer has shown that it can.
std::string try_device_memory(UcxProvider& provider, bool known, LoopBackMemory& memory) {
  if (!gpu::availability().available) return gpu::availability().reason;
  if (!known) return "this UCX has no support for CUDA memory";
  try {
    provider.adjust_limits().device_memory = true;
    check_device_memory(provider, memory);
    return {};
  } catch (const Error& error) {
    provider.adjust_limits().device_memory = false;
    return error.what();
  }
}

std::vector<std::string> candidates() {
  if (library() == nullptr) return {};
  std::vector<std::string> names{"ucx:all", "ucx:shm", "ucx:tcp"};
  if (has_rdma_device()) names.emplace_back(over_verbs);
  return names;
}

std::unique_ptr<Provider> open(std::string_view candidate) {
  if (library() == nullptr) throw Error(Code::not_supported, library_reason(), "ucx");
  const std::string name(candidate);
  const std::string transports = name.substr(family_prefix.size());
  OpenWorker open = open_worker(transports);
  const bool knows_cuda = knows_device_memory(open.context.get());
  LoopBackMemory memory;
  auto provider = std::make_unique<UcxProvider>(name, std::move(open), admits_shared_memory(transports));
  check_messages(*provider, memory);
  provider->adjust_limits().device_memory_reason = try_device_memory(*provider, knows_cuda, memory);
  return provider;
}

}  // namespace

Family family() {
  return {.name = "ucx", .candidates = candidates, .open = open};
}

}  // namespace lath::providers::ucx
