#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/wave/options.hpp"
#include "apps/wave/order_test.hpp"
#include "apps/wave/problem_file.hpp"
#include "apps/wave/report.hpp"
#include "apps/wave/run.hpp"
#include "base/config.hpp"
#include "base/error.hpp"
#include "gpu/device.hpp"
#include "transport/job.hpp"

namespace {

using namespace lath;
using namespace lath::wave;

std::string where(Memory memory) {
  if (memory == Memory::host) return "host memory";
  if (!gpu::availability().available) return "device memory";
  return gpu::availability().emulated ? "emulated device memory"
                                      : "memory of " + gpu::availability().device_name;
}

void print_setting(const Problem& problem, const Options& options, Ranks& ranks) {
  fmt::print("{}: {} x {} x {} points, spacing {:g}, {} steps of {:.6g} s\n", problem.title,
             problem.points[0], problem.points[1], problem.points[2], problem.spacing, problem.steps,
             problem.time_step);
  const Block block = decompose(problem.points, ranks.size(), ranks.rank());
  fmt::print("{} x {} ranks, {}, {} order, exchange by {}\n", block.ranks[0], block.ranks[1],
             where(options.memory), options.order == Order::c ? "(i,j,k,c)" : "(c,i,j,k)",
             options.exchange == Transport::lath ? "lath" : mpi_name());
  std::fflush(stdout);
}

/// The interfaces between layers as rows of a vertical slice, whose first row is the first at depth >= 0.
std::vector<double> interface_rows(const Problem& problem) {
  std::vector<double> rows;
  if (problem.picture->normal == 2) return rows;
  const double first_row = problem.first_depth() < 0.0 ? 0.5 : 0.0;
  for (std::size_t layer = 1; layer < problem.layers.size(); ++layer) {
    rows.push_back(problem.layers[layer].top / problem.spacing - first_row);
  }
  return rows;
}

void write_files(const Problem& problem, const Outcome& outcome) {
  if (!problem.receiver_folder.empty() && !problem.receivers.empty()) {
    for (const std::string& path : write_receivers(problem, outcome.series))
      fmt::print("receiver: {}\n", path);
  }
  if (problem.picture) {
    write_png(problem.picture->file, outcome.slice, 800, interface_rows(problem));
    const double scale = colour_scale(outcome.slice);
    fmt::print("picture: {}, blue {:+.2e} m, white 0, red {:+.2e} m\n", problem.picture->file, -scale, scale);
  }
}

/// Lath takes another scheme where the one asked for is not legal.
void print_scheme_note(const Options& options, const Outcome& outcome) {
  if (options.scheme.empty() || options.scheme == "auto") return;
  for (const FaceReport& report : outcome.reports) {
    if (report.scheme == options.scheme + "/" + options.scheme) continue;
    fmt::print("scheme {} is not legal for every face here (lath explain TYPE tells why)\n", options.scheme);
    return;
  }
}

void print_outcome(const Problem& problem, const Options& options, const Outcome& outcome) {
  if (problem.mode == Problem::Mode::manufactured) fmt::print("largest error: {:.3e} m\n", outcome.error);
  fmt::print("largest displacement at the end: {:.3e} m\n", outcome.peak);
  fmt::print("time stepping: {:.2f} s, {:.3f} ms a step\n", outcome.seconds,
             1e3 * outcome.seconds / static_cast<double>(problem.steps));
  if (outcome.reports.empty()) {
    fmt::print("no exchange: one rank has no neighbours\n");
    return;
  }
  fmt::print("exchange over {}, {} exchanges a step:\n{}", outcome.carrier, exchanges_a_step,
             exchange_table(outcome.reports, problem.steps));
  print_scheme_note(options, outcome);
}

int verdict(bool passed) {
  fmt::print("wave: {}\n", passed ? "PASS" : "FAIL");
  std::fflush(stdout);
  return passed ? 0 : 1;
}

/// Rank 0 computes alone what all have computed together.
bool verify(const Problem& problem, std::uint64_t checksum, Ranks& ranks) {
  bool same = true;
  if (ranks.rank() == 0) {
    const std::unique_ptr<Ranks> alone = lone_rank();
    const Outcome reference = compute(problem, Options{}, *alone);
    same = reference.checksum == checksum;
    fmt::print("one rank in host memory: checksum {:016x}, {}\n", reference.checksum,
               same ? "the same" : "DIFFERENT");
    std::fflush(stdout);
  }
  ranks.barrier();
  return sum(ranks, same ? 0 : 1) == 0;
}

Outcome compute_in_memory(const Problem& problem, const Options& options, Ranks& ranks,
                          const std::function<void()>& begins) {
  const auto fail = [&] {
    return Error(Code::no_memory,
                 fmt::format("the arrays of {} x {} x {} points on {} ranks do not fit into memory; take "
                             "fewer points, or more ranks on more memory",
                             problem.points[0], problem.points[1], problem.points[2], ranks.size()));
  };
  try {
    return compute(problem, options, ranks, begins);
  } catch (const std::bad_alloc&) {
    throw fail();
  } catch (const std::length_error&) {
    throw fail();
  }
}

int run_file(const Options& options, Ranks& ranks) {
  const Problem problem = read_problem(options.file);
  const bool speaks = ranks.rank() == 0;
  if (speaks && !options.quiet_files) prepare_folders(problem);
  const Outcome outcome = compute_in_memory(problem, options, ranks, [&] {
    if (speaks) print_setting(problem, options, ranks);
  });
  if (speaks) {
    if (!options.quiet_files) write_files(problem, outcome);
    print_outcome(problem, options, outcome);
    fmt::print("checksum: {:016x}\n", outcome.checksum);
    std::fflush(stdout);
  }
  if (!options.verify) return 0;
  const bool same = verify(problem, outcome.checksum, ranks);
  return speaks ? verdict(same) : (same ? 0 : 1);
}

int run_order_test(const Options& options, Ranks& ranks) {
  const std::vector<Resolution> resolutions = measure_order({13, 25, 37}, options, ranks);
  const bool passed = resolutions.back().order >= least_order;
  if (ranks.rank() != 0) return passed ? 0 : 1;
  fmt::print("{:>6} {:>6} {:>12} {:>6}\n", "points", "steps", "error", "order");
  for (const Resolution& resolution : resolutions) {
    const std::string order = resolution.order > 0.0 ? fmt::format("{:.2f}", resolution.order) : "";
    fmt::print("{:>6} {:>6} {:>12.3e} {:>6}\n", resolution.points, resolution.steps, resolution.error, order);
  }
  fmt::print("checksum: {:016x}\n", resolutions.back().checksum);
  return verdict(passed);
}

/// 2 for what the caller can mend in the input or by other options, 1 for failures of the run.
int exit_status(const Error& error) {
  const bool input = error.domain() == Domain::lath &&
                     (error.lath_code() == Code::parse || error.lath_code() == Code::not_supported ||
                      error.lath_code() == Code::invalid_argument);
  return input ? 2 : 1;
}

void check_environment() {
  config::require_usable();
  gpu::require_emulator();
}

int run(const Options& options, int argc, char** argv) {
  if (!options.scheme.empty()) setenv("LATH_SCHEME", options.scheme.c_str(), 1);
  if (options.ranks > 1 && std::getenv("LATH_JOB_NAME") == nullptr) {
    check_environment();
    const std::vector<std::string> arguments(argv, argv + argc);
    return transport::start_local(options.ranks, arguments);
  }
  const std::unique_ptr<Ranks> ranks = join_ranks(options.exchange == Transport::mpi);
  const auto report = [&](const Error& error) {
    fmt::print(stderr, "lath-wave: rank {}: {}\n", ranks->rank(), error.what());
  };
  try {
    check_environment();
    return options.order_test ? run_order_test(options, *ranks) : run_file(options, *ranks);
  } catch (const ExchangeFailure& failure) {
    report(failure);
  } catch (const Error& error) {
    const int status = exit_status(error);
    if (status == 1 || ranks->rank() == 0) report(error);
    if (status == 2) return status;  // every rank has come here
  }
  // The others may wait for this rank in a message; what started them ends them.
  if (ranks->size() > 1) std::_Exit(1);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const CommandLine line = read_command_line(argc, argv);
  if (line.exit_status) return *line.exit_status;
  try {
    return run(line.options, argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "lath-wave: {}\n", error.what());
    return exit_status(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "lath-wave: {}\n", error.what());
    return 1;
  }
}
