#include "providers/verbs/open.hpp"

#include <fmt/format.h>

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

std::unique_ptr<Provider> open(std::string_view candidate) {
  if (library() == nullptr) throw Error(Code::not_supported, library_reason(), "verbs");
  std::string_view device = candidate;
  if (device.starts_with(family_prefix)) device.remove_prefix(family_prefix.size());
  const std::vector<std::string> names = device_names();
  if (std::find(names.begin(), names.end(), device) == names.end())
    throw Error(Code::parse, fmt::format("there is no RDMA device \"{}\" here; there is {}", device,
                                         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  LoopBackMemory memory;
  auto provider = std::make_unique<VerbsProvider>(std::string(candidate), open_device(device));
  check_messages(*provider, memory);
  check_rma(*provider, memory);
  return provider;
}

}  // namespace

Family family() {
  return {.name = "verbs", .candidates = candidates, .open = open};
}

}  // namespace lath::providers::verbs
