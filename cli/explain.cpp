#include <fmt/format.h>

#include <memory>

#include "base/config.hpp"
#include "base/counters.hpp"
#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/environment.hpp"
#include "cli/explanation.hpp"
#include "datatypes/type_spec.hpp"
#include "gpu/device.hpp"
#include "providers/registry.hpp"
#include "transport/plan.hpp"
#include "transport/scheme.hpp"

namespace lath::cli {
namespace {

struct Options {
  std::string type;
  std::int64_t count = 1;
  std::string memory = "host";
  std::string provider;
  bool json = false;
};

/// Opens the provider to read its limits back. A provider that was asked for must work; without one the type
/// can still be explained, for a NIC that takes one segment at a time.
std::unique_ptr<providers::Provider> open_provider(const Options& options, Explanation& explanation) {
  check_provider(options.provider);
  const bool asked_for = !options.provider.empty() || !config::text("LATH_PROVIDER").empty();
  try {
    auto provider = providers::open(options.provider);
    explanation.provider = provider->name();
    return provider;
  } catch (const Error& error) {
    if (asked_for) throw;
    explanation.provider_problem = error.what();
    return nullptr;
  }
}

void judge_sides(const Options& options, Explanation& explanation) {
  using transport::Direction;
  const auto provider = open_provider(options, explanation);
  providers::Limits limits;
  transport::Capabilities capabilities;
  if (provider) {
    limits = provider->limits();
    Counters counters;
    capabilities = transport::SchemeFactory(*provider, counters).capabilities();
  }
  const auto kind = options.memory == "device" ? providers::MemoryKind::device : providers::MemoryKind::host;
  const transport::Summary summary = transport::summarise(explanation.layout, kind);
  explanation.send = {transport::judge(summary, Direction::send, limits, capabilities),
                      transport::choose(summary, Direction::send, limits, capabilities)};
  explanation.receive = {transport::judge(summary, Direction::receive, limits, capabilities),
                         transport::choose(summary, Direction::receive, limits, capabilities)};
}

/// Short host messages take no scheme, unless one is forced.
std::string eager_text(const Options& options, const Explanation& explanation) {
  const std::int64_t most = config::bytes("LATH_EAGER_BYTES");
  if (options.memory != "host" || explanation.layout.bytes() > most || transport::tuning().forced) return {};
  return fmt::format(
      "at most {} bytes (LATH_EAGER_BYTES): packed by the processor beside the header; the schemes below are "
      "for a "
      "forced LATH_SCHEME",
      most);
}

int explain(const Options& options) {
  const Datatype type = read_type(options.type);
  Explanation explanation{.type = options.type,
                          .count = options.count,
                          .size = type.size(),
                          .lower_bound = type.lower_bound(),
                          .extent = type.extent(),
                          .true_lower_bound = type.true_lower_bound(),
                          .true_extent = type.true_extent(),
                          .layout = read_layout(type, options.count),
                          .memory = options.memory};
  explanation.lengths = length_histogram(explanation.layout);
  const gpu::Availability& gpu = gpu::availability();
  explanation.gpu = gpu.available ? gpu.device_name : "none: " + gpu.reason;
  if (options.memory == "device" && !gpu.available)
    explanation.memory_note =
        " (supposed: there is no GPU here, so none of what a GPU could do is counted on)";
  judge_sides(options, explanation);
  explanation.eager = eager_text(options, explanation);
  print(options.json ? as_json(explanation).dump(2) + "\n" : as_text(explanation));
  return success;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("explain", "Say how a type lies in memory and how its messages are moved here");
  auto options = std::make_shared<Options>();
  command->add_option("type", options->type, "Type-spec, such as 'vector(3,2,4,int)', or pattern name")
      ->required();
  add_number(*command, "--count", options->count, 0, "Elements of the type");
  command->add_option("--memory", options->memory, "Where the buffer is")
      ->check(CLI::IsMember({"host", "device"}))
      ->capture_default_str();
  command->add_option("--provider", options->provider,
                      "Provider, such as ofi:tcp; default: as LATH_PROVIDER, or the best");
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

}  // namespace lath::cli
