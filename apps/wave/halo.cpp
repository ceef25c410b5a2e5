#include "apps/wave/halo.hpp"

#include <fmt/format.h>

namespace lath::wave {

std::int64_t HaloType::bytes() const {
  return count * block_length * static_cast<std::int64_t>(sizeof(double));
}

std::string HaloType::text() const {
  return fmt::format("vector({},{},{},double)", count, block_length, stride);
}

HaloFace halo_face(Face face, Order order, const Extents& n) {
  const bool along_x = face == Face::x_low || face == Face::x_high;
  const bool low = face == Face::x_low || face == Face::y_low;
  const Strides s = strides_of(order, n);
  HaloFace result;
  if (along_x && order == Order::c) {
    result.type = {components * n.j * n.k, ghosts, n.i};
  } else if (along_x) {
    result.type = {n.j * n.k, components * ghosts, components * n.i};
  } else if (order == Order::c) {
    result.type = {components * n.k, ghosts * n.i, n.i * n.j};
  } else {
    result.type = {n.k, components * ghosts * n.i, components * n.i * n.j};
  }
  const std::int64_t layer = along_x ? s.i : s.j;
  const std::int64_t points = along_x ? n.i : n.j;
  result.send_element = layer * (low ? ghosts : points - 2 * ghosts);
  result.receive_element = layer * (low ? 0 : points - ghosts);
  return result;
}

}  // namespace lath::wave
