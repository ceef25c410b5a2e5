#include "cli/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/config.hpp"
#include "base/error.hpp"
#include "cli/command.hpp"
#include "gpu/device.hpp"
#include "providers/registry.hpp"

namespace lath::cli {
namespace {

/// A candidate, or one way of several to open it: "ofi:tcp;ofi_rxm".
bool names_candidate(const std::string& name, const std::string& candidate) {
  return name == candidate || name.starts_with(candidate + ";");
}

}  // namespace

void check_environment() {
  try {
    config::require_usable();
    gpu::require_emulator();
  } catch (const Error& error) {
    throw WrongUsage(error.what());
  }
}

void check_provider(const std::string& option) {
  const std::string wanted = option.empty() ? config::text("LATH_PROVIDER") : option;
  if (wanted.empty()) return;
  std::vector<std::string> offered;
  for (const providers::Family& family : providers::families()) {
    if (wanted == family.name) return;
    for (std::string& candidate : family.candidates()) offered.push_back(std::move(candidate));
  }
  if (std::ranges::any_of(offered, [&](const auto& candidate) { return names_candidate(wanted, candidate); }))
    return;
  const Error error(Code::invalid_argument,
                    fmt::format("{}'{}' is no provider of this machine; it offers {}",
                                option.empty() ? "LATH_PROVIDER=" : "--provider ", wanted,
                                offered.empty() ? "none" : fmt::format("{}", fmt::join(offered, ", "))));
  throw WrongUsage(error.what());
}

}  // namespace lath::cli
