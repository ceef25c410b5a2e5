#pragma once

#include "apps/wave/material.hpp"
#include "apps/wave/problem.hpp"
#include "apps/wave/stencil.hpp"

/// A smooth exact solution u(x, t) = shape(x) cos(2 pi f t) in a smoothly varying material, for a domain of
/// about unit size and unit material values.
namespace lath::wave::manufactured {

[[nodiscard]] TimeFunction time_function();
[[nodiscard]] Material material(const Position& position);
[[nodiscard]] Vector3 shape(const Position& position);
/// The force density's shape, rho u_tt - div sigma(u), which goes with the same time function.
[[nodiscard]] Vector3 force(const Position& position);
/// An upper bound of sqrt(vp^2 + 2 vs^2).
[[nodiscard]] double fastest_speed();

}  // namespace lath::wave::manufactured
