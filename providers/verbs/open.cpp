#include "providers/verbs/open.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "gpu/device.hpp"
#include "providers/loop_back.hpp"
#include "providers/verbs/provider.hpp"

namespace lath::providers::verbs {
namespace {

constexpr std::string_view family_prefix = "verbs:";

std::vector<std::string> candidates() {
  std::vector<std::string> names = device_names();
  for (std::string& name : names) name.insert(0, family_prefix);
  return names;
}

std::unique_ptr<VerbsProvider> open_checked(std::string_view candidate, std::string_view device,
                                            bool device_memory) {
  LoopBackMemory memory;
  auto provider = std::make_unique<VerbsProvider>(std::string(candidate), open_device(device));
  check_messages(*provider, memory);
  check_rma(*provider, memory);
  if (device_memory) {
    check_device_memory(*provider, memory);
    provider->adjust_limits().device_memory = true;
  }
  return provider;
}

std::unique_ptr<Provider> open(std::string_view candidate) {
  if (library() == nullptr) throw Error(Code::not_supported, library_reason(), "verbs");
  std::string_view device = candidate;
  if (device.starts_with(family_prefix)) device.remove_prefix(family_prefix.size());
  const std::vector<std::string> names = device_names();
  if (std::find(names.begin(), names.end(), device) == names.end())
    throw Error(Code::parse, fmt::format("there is no RDMA device \"{}\" here; there is {}", device,
                                         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  std::string why_not = gpu::availability().available ? "" : gpu::availability().reason;
  if (gpu::availability().available) {
    try {
      return open_checked(candidate, device, true);
    } catch (const Error& error) {
      why_not = error.what();
      log::info("{} is opened for host memory only: {}", candidate, why_not);
    }
  }
  auto provider = open_checked(candidate, device, false);
  provider->adjust_limits().device_memory_reason = why_not.empty() ? "no GPU is in use" : why_not;
  return provider;
}

}  // namespace

Family family() {
  return {.name = "verbs", .candidates = candidates, .open = open};
}

}  // namespace lath::providers::verbs
