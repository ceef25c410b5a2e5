#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/wave/gather.hpp"
#include "apps/wave/options.hpp"
#include "apps/wave/problem.hpp"
#include "apps/wave/ranks.hpp"

namespace lath::wave {

/// What a whole run came to; the same on every rank.
struct Outcome {
  std::uint64_t checksum = 0;
  double error = 0.0;    ///< manufactured mode: the largest difference from the exact solution
  double peak = 0.0;     ///< largest magnitude of a component at the end
  double seconds = 0.0;  ///< of time stepping, this rank's
  std::array<std::int64_t, 2> ranks{1, 1};
  std::string carrier;
  std::vector<FaceReport> reports;
  std::vector<std::vector<double>> series;
  Slice slice;  ///< empty where the problem has no picture
};

/// Computes a problem on all ranks. `begins` is called before the first step, when all that the problem and
/// the options ask for has been made on every rank. Collective. Throws Error.
[[nodiscard]] Outcome compute(const Problem& problem, const Options& options, Ranks& ranks,
                              const std::function<void()>& begins = {});

}  // namespace lath::wave
