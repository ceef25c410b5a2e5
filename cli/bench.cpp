#include "cli/bench.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "benchmarks/patterns.hpp"
#include "cli/lengths.hpp"

namespace lath::cli {
namespace {

int list() {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "{:<16}{:>10}{:>10}{:>14}  {:<32}{}\n", "pattern", "bytes", "segments", "block bytes",
                 "origin", "type");
  for (const benchmarks::Pattern& pattern : benchmarks::patterns()) {
    const Layout layout = Layout::of(pattern.make(), 1);
    const LengthHistogram lengths = length_histogram(layout);
    const std::string blocks = lengths.shortest == lengths.longest
                                   ? fmt::format("{}", lengths.longest)
                                   : fmt::format("{}-{}", lengths.shortest, lengths.longest);
    fmt::format_to(to, "{:<16}{:>10}{:>10}{:>14}  {:<32}{}\n", pattern.name, layout.bytes(),
                   layout.segment_count(), blocks, pattern.origin, pattern.description);
  }
  print({out.data(), out.size()});
  return success;
}

}  // namespace

void write_json(const std::string& where, const nlohmann::ordered_json& report) {
  const std::string text = report.dump(2) + "\n";
  if (where == "-") return print(text);
  std::ofstream file(where);
  if (!(file << text << std::flush)) throw Error(Domain::system, errno, fmt::format("writing '{}'", where));
}

/// Starts the two processes where no launcher has, which then come here again with a job.
int in_job_of_two(const std::vector<std::string>& arguments,
                  const std::function<int(transport::Job&)>& body) {
  auto job = transport::Job::from_environment();
  if (!job || job->size() == 1) return transport::start_local(2, arguments);
  if (job->size() != 2)
    throw WrongUsage(fmt::format("this benchmark takes two processes, the launcher started {}", job->size()));
  return body(*job);
}

void add_bench(CLI::App& app, Action& action, const std::vector<std::string>& arguments) {
  auto* bench = app.add_subcommand("bench", "Benchmarks");
  bench->add_subcommand("list", "List the message patterns")->callback([&action] { action = list; });
  add_bench_pingpong(*bench, action, arguments);
#ifdef LATH_WITH_LIBFABRIC
  add_bench_provider(*bench, action, arguments);
#endif
}

}  // namespace lath::cli
