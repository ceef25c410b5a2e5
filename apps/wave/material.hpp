#pragma once

#include "apps/wave/problem.hpp"

namespace lath::wave {

struct Material {
  double lambda = 0.0;   ///< Pa
  double mu = 0.0;       ///< Pa
  double density = 0.0;  ///< kg/m^3
};

/// The material at a position, inside the grid or at its ghost points. Above a free surface there is no
/// stiffness and little mass; docs/wave.md says why the shares of mass there are what they are.
[[nodiscard]] Material material_at(const Problem& problem, const Position& position);

}  // namespace lath::wave
