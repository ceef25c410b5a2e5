#include "apps/wave/material.hpp"

#include "apps/wave/manufactured.hpp"

namespace lath::wave {
namespace {

Material material_of(const Layer& layer) {
  const double mu = layer.density * layer.vs * layer.vs;
  return Material{layer.density * layer.vp * layer.vp - 2.0 * mu, mu, layer.density};
}

/// A small tolerance decides a point that lies on an interface, whatever its coordinate's rounding.
const Layer& layer_at(const Problem& problem, double depth) {
  const Layer* found = &problem.layers.front();
  for (const Layer& layer : problem.layers) {
    if (depth >= layer.top - 1e-6 * problem.spacing) found = &layer;
  }
  return *found;
}

}  // namespace

Material material_at(const Problem& problem, const Position& position) {
  if (problem.mode == Problem::Mode::manufactured) return manufactured::material(position);
  Material material = material_of(layer_at(problem, position[2]));
  if (problem.top == Problem::Top::free) {
    // Points nearest above and farther above the surface, and the first below it: the shares add up to the
    // half cell of rock between the first rock point and the surface, and one cell.
    if (position[2] < -problem.spacing) return Material{0.0, 0.0, 0.01 * material.density};
    if (position[2] < 0.0) return Material{0.0, 0.0, 0.10 * material.density};
    if (position[2] < problem.spacing) material.density *= 0.89;
  }
  return material;
}

}  // namespace lath::wave
