#include "apps/wave/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "apps/wave/checksum.hpp"
#include "apps/wave/manufactured.hpp"
#include "apps/wave/simulation.hpp"

namespace lath::wave {
namespace {

std::unique_ptr<Exchange> make_exchange(const Options& options, Ranks& ranks, const Simulation& simulation) {
  if (ranks.size() == 1) return no_exchange();
  if (options.exchange == Transport::mpi) {
    return mpi_exchange(simulation.block(), simulation.order(), options.memory, simulation.fields());
  }
  return lath_exchange(ranks, simulation.block(), simulation.order(), simulation.fields());
}

template <class Body>
void for_each_owned(const Block& block, Body&& body) {
  for (std::int64_t k = 0; k < block.range[2].count; ++k) {
    for (std::int64_t j = 0; j < block.range[1].count; ++j) {
      for (std::int64_t i = 0; i < block.range[0].count; ++i) body(i, j, k);
    }
  }
}

/// The largest magnitude of (displacement minus exact shape times `factor`) over the block.
double largest_difference(const Problem& problem, const Simulation& simulation,
                          const std::vector<double>& field, double factor) {
  const Block& block = simulation.block();
  const Strides strides = strides_of(simulation.order(), block.extents());
  double most = 0.0;
  for_each_owned(block, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const auto at = static_cast<std::size_t>(element(strides, 0, i + ghosts, j + ghosts, k + ghosts));
    const auto next = static_cast<std::size_t>(strides.c);
    Vector3 exact{0.0, 0.0, 0.0};
    if (factor != 0.0) {
      exact = manufactured::shape(
          problem.position({block.range[0].first + i, block.range[1].first + j, block.range[2].first + k}));
    }
    most = std::max({most, std::fabs(field[at] - factor * exact.x),
                     std::fabs(field[at + next] - factor * exact.y),
                     std::fabs(field[at + 2 * next] - factor * exact.z)});
  });
  return most;
}

}  // namespace

Outcome compute(const Problem& problem, const Options& options, Ranks& ranks,
                const std::function<void()>& begins) {
  Simulation simulation(problem, decompose(problem.points, ranks.size(), ranks.rank()), options.order,
                        options.memory);
  const std::unique_ptr<Exchange> exchange = make_exchange(options, ranks, simulation);
  ranks.barrier();
  if (begins) begins();
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t step = 0; step < problem.steps; ++step) simulation.advance(*exchange);
  const std::vector<double> field = simulation.displacement();
  Outcome outcome;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  outcome.ranks = simulation.block().ranks;
  outcome.carrier = exchange->carrier();
  outcome.reports = gather_reports(ranks, exchange->report());
  outcome.checksum = sum(ranks, checksum(field, simulation.block(), simulation.order(), problem.points));
  outcome.peak = largest(ranks, largest_difference(problem, simulation, field, 0.0));
  if (problem.mode == Problem::Mode::manufactured) {
    const double end = static_cast<double>(problem.steps) * problem.time_step;
    outcome.error = largest(
        ranks, largest_difference(problem, simulation, field, manufactured::time_function().value(end)));
  }
  outcome.series = gather_series(ranks, problem, simulation.recorded());
  if (problem.picture) outcome.slice = gather_slice(ranks, problem, simulation.block(), options.order, field);
  ranks.barrier();
  return outcome;
}

}  // namespace lath::wave
