#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <memory>

#include "benchmarks/pingpong_report.hpp"
#include "benchmarks/provider_comparison.hpp"
#include "cli/bench.hpp"
#include "cli/environment.hpp"

namespace lath::cli {
namespace {

/// What Lath may add to the provider's own messages.
constexpr double most_added_ns = 400.0;         // to a half round trip of 8 bytes
constexpr double least_bandwidth_ratio = 0.95;  // of the larger messages

struct Options {
  std::string provider, json;
  double seconds = 3.0;
  bool check = false;
};

/// Of the quartiles' distance, beside the median: beyond, the machine was busy with something else.
constexpr double most_spread = 0.5;

enum class Verdict { within, beyond, noisy };

Verdict verdict(const benchmarks::SizeComparison& size) {
  for (const auto& side : {size.provider, size.lath})
    if (side.q3 - side.q1 > most_spread * side.median) return Verdict::noisy;
  const bool kept = size.bytes == 8 ? size.difference.median * 1e3 <= most_added_ns
                                    : size.bandwidth_ratio >= least_bandwidth_ratio;
  return kept ? Verdict::within : Verdict::beyond;
}

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::within:
      return "within bounds";
    case Verdict::beyond:
      return "OUT OF BOUNDS";
    case Verdict::noisy:
      return "too noisy to judge";
  }
  return "";
}

std::string as_text(const benchmarks::ProviderComparison& report, bool check) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "contiguous messages over {}, half round trips in us: median (quartiles)\n",
                 report.provider);
  fmt::format_to(to, "{:>9} {:>30} {:>30} {:>14} {:>16}\n", "bytes", "libfabric", "lath", "added ns",
                 "bandwidth ratio");
  const auto text = [](const benchmarks::Quartiles& q) {
    return fmt::format("{:.3f} ({:.3f} to {:.3f})", q.median, q.q1, q.q3);
  };
  for (const auto& size : report.sizes)
    fmt::format_to(to, "{:>9} {:>30} {:>30} {:>14.0f} {:>16.3f}{}{}\n", size.bytes, text(size.provider),
                   text(size.lath), size.difference.median * 1e3, size.bandwidth_ratio, check ? "  " : "",
                   check ? name(verdict(size)) : "");
  if (check)
    fmt::format_to(to, "(bounds: {} ns added at 8 bytes, bandwidth ratio {} above)\n", most_added_ns,
                   least_bandwidth_ratio);
  return fmt::to_string(out);
}

nlohmann::ordered_json as_json(const benchmarks::ProviderComparison& report) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const auto& size : report.sizes)
    sizes.push_back({{"bytes", size.bytes},
                     {"provider_half_round_trip_us", benchmarks::as_json(size.provider)},
                     {"lath_half_round_trip_us", benchmarks::as_json(size.lath)},
                     {"added_us", benchmarks::as_json(size.difference)},
                     {"bandwidth_ratio", size.bandwidth_ratio},
                     {"verdict", name(verdict(size))}});
  return {{"benchmark", "provider"},
          {"provider", report.provider},
          {"passed", report.failure.empty()},
          {"bounds", {{"added_us", most_added_ns / 1e3}, {"bandwidth_ratio", least_bandwidth_ratio}}},
          {"sizes", std::move(sizes)}};
}

int report_status(const Options& options, const benchmarks::ProviderComparison& report) {
  if (!report.failure.empty()) std::fprintf(stderr, "lath: %s\n", report.failure.c_str());
  bool bounded = true;
  for (const auto& size : report.sizes) bounded = bounded && verdict(size) == Verdict::within;
  return report.failure.empty() && (bounded || !options.check) ? success : failed_check;
}

int provider(const Options& options, const std::vector<std::string>& arguments) {
  check_provider(options.provider);
  return in_job_of_two(arguments, [&](transport::Job& job) {
    const auto report = benchmarks::compare_with_provider(job, options.provider, options.seconds);
    if (job.rank() != 0) return success;
    if (options.json != "-") print(as_text(report, options.check));
    if (!options.json.empty()) write_json(options.json, as_json(report));
    return report_status(options, report);
  });
}

}  // namespace

void add_bench_provider(CLI::App& bench, Action& action, const std::vector<std::string>& arguments) {
  auto* command = bench.add_subcommand(
      "provider", "Time contiguous messages beside the provider's own, which Lath adds its part to");
  auto options = std::make_shared<Options>();
  command->add_option("--provider", options->provider,
                      "Provider, such as ofi:shm; default: as LATH_PROVIDER, or the best");
  add_seconds(*command, options->seconds, "Timed part");
  command->add_flag("--check", options->check,
                    "Say which bounds are kept, and exit with 1 where one is not, or cannot be judged");
  command->add_option("--json", options->json, "Write a JSON report to a file, or to standard output (-)");
  command->callback([options, &action, &arguments] {
    action = [options, &arguments] { return provider(*options, arguments); };
  });
}

}  // namespace lath::cli
