#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "benchmarks/pingpong.hpp"
#include "benchmarks/pingpong_report.hpp"
#include "cli/bench.hpp"
#include "cli/environment.hpp"
#include "gpu/device.hpp"

namespace lath::cli {
namespace {

struct Options {
  std::string pattern, peer_pattern;
  std::int64_t count = 1;
  std::string memory = "host", peer_memory;
  std::string provider, scheme, json;
  std::int64_t iterations = 0;
  double seconds = 1.0;
};

benchmarks::Memory memory_of(const std::string& text) {
  return text == "device" ? benchmarks::Memory::device : benchmarks::Memory::host;
}

/// The side's type must be one that can be received into, in a buffer that a benchmark can afford.
void check_side(const benchmarks::PingpongSide& side) {
  try {
    if (benchmarks::overlaps(read_layout(side.type, side.count)))
      throw WrongUsage(fmt::format("{} x '{}' overlaps itself, so nothing can be received into it",
                                   side.count, side.pattern));
  } catch (const Error& error) {
    throw WrongUsage(error.what());
  }
}

/// So many elements of the peer's type that both sides have the same bytes.
std::int64_t peer_count(const Datatype& type, const std::string& pattern, std::int64_t bytes) {
  const std::int64_t size = type.size();
  if (size == 0 ? bytes != 0 : bytes % size != 0)
    throw WrongUsage(fmt::format("a message of {} bytes is no whole number of elements of '{}' ({} bytes)",
                                 bytes, pattern, size));
  return size == 0 ? 1 : bytes / size;
}

benchmarks::PingpongOptions read_options(const Options& options) {
  const Datatype type = read_type(options.pattern);
  const std::int64_t bytes = read_layout(type, options.count).bytes();
  const benchmarks::PingpongSide mine{options.pattern, type, options.count, memory_of(options.memory)};
  benchmarks::PingpongSide peer = mine;
  if (!options.peer_pattern.empty()) {
    peer.pattern = options.peer_pattern;
    peer.type = options.peer_pattern == "contiguous" ? Datatype::basic(Basic::byte_)
                                                     : read_type(options.peer_pattern);
    peer.count = peer_count(peer.type, options.peer_pattern, bytes);
  }
  if (!options.peer_memory.empty()) peer.memory = memory_of(options.peer_memory);
  check_side(mine);
  check_side(peer);
  return {{mine, peer}, options.provider, options.scheme, options.iterations, options.seconds};
}

void require_gpu(const benchmarks::PingpongOptions& options) {
  for (const auto& side : options.sides)
    if (side.memory == benchmarks::Memory::device && !gpu::availability().available)
      throw WrongUsage(
          fmt::format("there is no GPU memory to test: {}; LATH_GPU=emulated stands in for a GPU",
                      gpu::availability().reason));
}

int refuse_scheme(const benchmarks::IllegalScheme& illegal, bool speaks) {
  const Error error(Code::invalid_argument,
                    fmt::format("scheme {} is not legal here: {}", illegal.scheme, illegal.reason));
  if (speaks) throw WrongUsage(error.what());
  return wrong_usage;
}

int pingpong(const Options& options, const std::vector<std::string>& arguments) {
  const benchmarks::PingpongOptions read = read_options(options);
  require_gpu(read);
  check_provider(options.provider);
  return in_job_of_two(arguments, [&](transport::Job& job) {
    const benchmarks::PingpongReport report = benchmarks::pingpong(job, read);
    if (report.results.empty()) return refuse_scheme(report.not_legal.front(), job.rank() == 0);
    const bool passed = std::all_of(report.results.begin(), report.results.end(),
                                    [](const auto& result) { return result.failure.empty(); });
    if (job.rank() == 0) {
      if (options.json != "-") print(as_text(read, report));
      if (!options.json.empty()) write_json(options.json, as_json(read, report));
      for (const auto& result : report.results)
        if (!result.failure.empty())
          std::fprintf(stderr, "lath: scheme %s: %s\n", result.scheme.c_str(), result.failure.c_str());
    }
    return passed ? success : failed_check;
  });
}

}  // namespace

void add_bench_pingpong(CLI::App& bench, Action& action, const std::vector<std::string>& arguments) {
  auto* command = bench.add_subcommand(
      "pingpong", "Time messages of a type between two processes of this node, or of a launcher's job");
  auto options = std::make_shared<Options>();
  command->add_option("--pattern", options->pattern, "Pattern name (lath bench list) or type-spec")
      ->required();
  add_number(*command, "--count", options->count, 0, "Elements of the type");
  command->add_option("--peer-pattern", options->peer_pattern,
                      "The second process' type: a name, a type-spec, or 'contiguous'; default: the same");
  const CLI::IsMember memories({"host", "device"});
  command->add_option("--memory", options->memory, "Where the buffers are")
      ->check(memories)
      ->capture_default_str();
  command
      ->add_option("--peer-memory", options->peer_memory, "Where the second process' are; default: the same")
      ->check(memories);
  command->add_option("--provider", options->provider,
                      "Provider, such as ofi:shm; default: as LATH_PROVIDER, or the best");
  command->add_option("--scheme", options->scheme, "Scheme to force, or all; default: as LATH_SCHEME")
      ->check(CLI::IsMember({"auto", "contiguous", "gather", "device_pack", "host_pack", "staged", "all"}));
  add_number(*command, "--iterations", options->iterations, 1,
             "Timed round trips; default: what fits into --seconds");
  add_seconds(*command, options->seconds, "Timed part of each scheme");
  command->add_option("--json", options->json, "Write a JSON report to a file, or to standard output (-)");
  command->callback([options, &action, &arguments] {
    action = [options, &arguments] { return pingpong(*options, arguments); };
  });
}

}  // namespace lath::cli
