#include "apps/wave/decomposition.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace lath::wave {
namespace {

Range share(std::int64_t points, std::int64_t parts, std::int64_t part) {
  const std::int64_t first = points * part / parts;
  return Range{first, points * (part + 1) / parts - first};
}

}  // namespace

const char* name(Face face) {
  static constexpr std::array<const char*, 4> names{"x-low", "x-high", "y-low", "y-high"};
  return names[static_cast<std::size_t>(face)];
}

Face opposite(Face face) {
  return static_cast<Face>(static_cast<unsigned>(face) ^ 1U);
}

Extents Block::extents() const {
  return Extents{range[0].count + 2 * ghosts, range[1].count + 2 * ghosts, range[2].count + 2 * ghosts};
}

std::optional<int> Block::neighbour(Face face) const {
  std::array<std::int64_t, 2> at = coordinate;
  const std::size_t direction = face == Face::x_low || face == Face::x_high ? 0 : 1;
  at[direction] += face == Face::x_low || face == Face::y_low ? -1 : 1;
  if (at[direction] < 0 || at[direction] >= ranks[direction]) return std::nullopt;
  return static_cast<int>(at[1] * ranks[0] + at[0]);
}

bool Block::owns(const std::array<std::int64_t, 3>& point) const {
  for (std::size_t d = 0; d < 3; ++d) {
    if (point[d] < range[d].first || point[d] >= range[d].first + range[d].count) return false;
  }
  return true;
}

Block decompose(const std::array<std::int64_t, 3>& points, int ranks, int rank) {
  Block best;
  std::int64_t least = -1;
  for (std::int64_t px = 1; px <= ranks; ++px) {
    if (ranks % px != 0) continue;
    const std::int64_t py = ranks / px;
    if (points[0] / px < ghosts || points[1] / py < ghosts) continue;
    const std::int64_t halo = (px - 1) * points[1] + (py - 1) * points[0];
    if (least >= 0 && halo >= least) continue;
    least = halo;
    best.ranks = {px, py};
  }
  if (least < 0) {
    throw Error(Code::invalid_argument,
                fmt::format("a grid of {} x {} points cannot be divided among {} ranks with {} points a rank",
                            points[0], points[1], ranks, ghosts));
  }
  best.coordinate = {rank % best.ranks[0], rank / best.ranks[0]};
  best.range = {share(points[0], best.ranks[0], best.coordinate[0]),
                share(points[1], best.ranks[1], best.coordinate[1]), Range{0, points[2]}};
  return best;
}

}  // namespace lath::wave
