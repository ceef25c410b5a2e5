#pragma once

#include <cstdint>

#include "gpu/kernel.hpp"

namespace lath::wave {

/// How a field of three components lies in memory. Both keep i before j before k.
enum class Order : std::uint8_t {
  c,        ///< (i,j,k,c): one three-dimensional array after the other
  fortran,  ///< (c,i,j,k): the three components of a point side by side
};

inline constexpr std::int64_t components = 3;
/// Ghost points on each side of each direction: what a fourth-order stencil reaches.
inline constexpr std::int64_t ghosts = 2;

/// Points of a rank's block in each direction, ghost points included.
struct Extents {
  std::int64_t i = 0;
  std::int64_t j = 0;
  std::int64_t k = 0;
};

/// Distances in elements between neighbours of a field.
struct Strides {
  std::int64_t c;
  std::int64_t i;
  std::int64_t j;
  std::int64_t k;
};

#if defined(__CUDACC__)
#define LATH_WAVE_BOTH __host__ __device__
#else
#define LATH_WAVE_BOTH
#endif

template <Order order>
LATH_WAVE_BOTH constexpr Strides strides_of(const Extents& n) {
  if (order == Order::c) return Strides{n.i * n.j * n.k, 1, n.i, n.i * n.j};
  return Strides{1, components, components * n.i, components * n.i * n.j};
}

LATH_WAVE_BOTH constexpr Strides strides_of(Order order, const Extents& n) {
  return order == Order::c ? strides_of<Order::c>(n) : strides_of<Order::fortran>(n);
}

/// Points of a block, ghost points included.
LATH_WAVE_BOTH constexpr std::int64_t point_count(const Extents& n) {
  return n.i * n.j * n.k;
}

/// Element number of component c of point (i,j,k), which count from the first ghost point.
LATH_WAVE_BOTH constexpr std::int64_t element(const Strides& s, std::int64_t c, std::int64_t i,
                                              std::int64_t j, std::int64_t k) {
  return c * s.c + i * s.i + j * s.j + k * s.k;
}

}  // namespace lath::wave
