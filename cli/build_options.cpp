#include "cli/build_options.hpp"

#include <fmt/format.h>

#include "gpu/pack_image.hpp"
#include "providers/registry.hpp"
#include "providers/unmapping_hooks.hpp"

namespace lath::cli {

std::vector<std::pair<std::string, std::string>> build_options() {
#if defined(__clang__)
  std::string compiler = fmt::format("clang {}.{}", __clang_major__, __clang_minor__);
#else
  std::string compiler = fmt::format("gcc {}.{}", __GNUC__, __GNUC_MINOR__);
#endif
  std::string families;
  for (const providers::Family& family : providers::families())
    families += (families.empty() ? "" : ", ") + std::string(family.name);
  const providers::UnmappingHooks& hooks = providers::unmapping_hooks();
  return {
      {"compiler", std::move(compiler)},
      {"providers", families.empty() ? "none: no NIC library was found" : std::move(families)},
      {"host memory", hooks.installed ? "registrations can be kept after use: libucm tells what is unmapped"
                                      : "registrations end with their use: " + hooks.reason},
      {"GPU kernels", gpu::pack_image().fatbin != nullptr ? "compiled by nvcc, and for the emulator"
                                                          : "for the emulator only: nvcc was not found"}};
}

}  // namespace lath::cli
