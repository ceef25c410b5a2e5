#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.hpp"
#include "cli/build_options.hpp"
#include "cli/command.hpp"
#include "cli/information.hpp"
#include "lath/lath.h"
#include "providers/unmapping_hooks.hpp"

namespace lath::cli {
namespace {

VariableState state_of(const config::Variable& variable) {
  return {.variable = variable,
          .value = config::value(variable),
          .set = config::is_set(variable.name),
          .problem = config::problem(variable)};
}

bool keeps_registrations() {
  const auto& all = config::variables();
  const auto keep = std::find_if(all.begin(), all.end(), [](const config::Variable& variable) {
    return variable.name == "LATH_KEEP_REGISTRATIONS";
  });
  // A value that cannot be used is told elsewhere.
  const bool usable = keep != all.end() && config::problem(*keep).empty();
  return usable && config::boolean("LATH_KEEP_REGISTRATIONS") && providers::unmapping_hooks().installed;
}

Information gather() {
  Information information{.version = lath_version(),
                          .build = build_options(),
                          .gpu = gpu::availability(),
                          .providers = providers::probe_all(),
                          .worker = worker_memory()};
  for (const config::Variable& variable : config::variables())
    information.variables.push_back(state_of(variable));
  information.unknown = config::unknown();
  information.fabric =
      fabric_warnings([](const char* name) { return std::getenv(name); }, keeps_registrations());
  return information;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("info",
                                     "Print version, build, GPUs, providers with their limits, memory bounds "
                                     "and every LATH_* variable");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As JSON");
  command->callback([json, &action] {
    action = [json] {
      const Information information = gather();
      print(*json ? as_json(information).dump(2) + "\n" : as_text(information));
      return success;
    };
  });
}

}  // namespace lath::cli
