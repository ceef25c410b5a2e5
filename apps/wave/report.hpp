#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/wave/exchange.hpp"
#include "apps/wave/problem.hpp"

namespace lath::wave {

/// Ghost exchanges of every time step: after the predictor and after the corrector.
inline constexpr std::int64_t exchanges_a_step = 2;

/// The exchange table of all ranks' reports: one line for each face, type and scheme, with the ranks that
/// have it, and the mean over them of the time a step.
[[nodiscard]] std::string exchange_table(const std::vector<FaceReport>& reports, std::int64_t steps);

/// Makes the folders that the problem's files go to, where missing. Throws Error(system) naming what cannot
/// be made or not be written to.
void prepare_folders(const Problem& problem);

/// Writes one text file a receiver into the problem's folder, which is there: a commented heading, then time
/// (s) and the three displacements (m) of every step. Returns the paths. Throws Error(system).
std::vector<std::string> write_receivers(const Problem& problem,
                                         const std::vector<std::vector<double>>& series);

}  // namespace lath::wave
