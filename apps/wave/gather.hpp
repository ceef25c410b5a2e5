#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/wave/picture.hpp"
#include "apps/wave/problem.hpp"
#include "apps/wave/ranks.hpp"
#include "apps/wave/simulation.hpp"

/// What all ranks' blocks come to together. Every call is collective, and every rank gets the result.
namespace lath::wave {

[[nodiscard]] std::uint64_t sum(Ranks& ranks, std::uint64_t mine);
[[nodiscard]] double largest(Ranks& ranks, double mine);

/// The picture's slice of the displacement; `field` is the block's, in host memory.
[[nodiscard]] Slice gather_slice(Ranks& ranks, const Problem& problem, const Block& block, Order order,
                                 const std::vector<double>& field);

/// Every receiver's series, by number in the problem.
[[nodiscard]] std::vector<std::vector<double>> gather_series(Ranks& ranks, const Problem& problem,
                                                             const std::vector<Simulation::Series>& mine);

/// Every rank's reports, rank after rank.
[[nodiscard]] std::vector<FaceReport> gather_reports(Ranks& ranks, const std::vector<FaceReport>& mine);

}  // namespace lath::wave
