#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/wave/problem.hpp"

namespace lath::wave {

/// The rate (1/s) at which motion is damped at a global point of one direction, 0 outside the damped zones: r
/// in u_tt + r u_t = ... It rises smoothly from the zone's inner edge to the side. A free top has no zone.
[[nodiscard]] double damping_rate(const Problem& problem, std::size_t direction, std::int64_t point);

}  // namespace lath::wave
