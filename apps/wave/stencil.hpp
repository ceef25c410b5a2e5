#pragma once

#include <cstdint>

#include "apps/wave/array_order.hpp"
#include "gpu/kernel.hpp"

/// The elastic operator at one point, div sigma(u) times the squared spacing, fourth order, with variable
/// coefficients. Only additions and multiplications, in one fixed order: every processor gets the same bits.
namespace lath::wave {

/// A coefficient at the five points of a stencil along one direction.
struct Line {
  double m2, m1, at, p1, p2;
};

LATH_KERNEL_BODY Line line(const double* a, std::int64_t stride) {
  return Line{a[-2 * stride], a[-stride], a[0], a[stride], a[2 * stride]};
}

/// lambda + 2 mu along a line.
LATH_KERNEL_BODY Line p_wave_modulus(const Line& lambda, const Line& mu) {
  return Line{lambda.m2 + 2.0 * mu.m2, lambda.m1 + 2.0 * mu.m1, lambda.at + 2.0 * mu.at,
              lambda.p1 + 2.0 * mu.p1, lambda.p2 + 2.0 * mu.p2};
}

/// d/dx (a df/dx) on five points: symmetric, and dissipates nothing whatever a >= 0 is.
LATH_KERNEL_BODY double second_derivative(const double* f, std::int64_t stride, const Line& a) {
  const double w_m2 = a.m1 - 0.75 * (a.at + a.m2);
  const double w_m1 = a.m2 + a.p1 + 3.0 * (a.at + a.m1);
  const double w_p1 = a.m1 + a.p2 + 3.0 * (a.p1 + a.at);
  const double w_p2 = a.p1 - 0.75 * (a.at + a.p2);
  const double here = f[0];
  return (w_m2 * (f[-2 * stride] - here) + w_m1 * (f[-stride] - here) + w_p1 * (f[stride] - here) +
          w_p2 * (f[2 * stride] - here)) *
         (1.0 / 6.0);
}

/// 12 df/dx.
LATH_KERNEL_BODY double first_difference(const double* f, std::int64_t stride) {
  return (f[-2 * stride] - f[2 * stride]) + 8.0 * (f[stride] - f[-stride]);
}

/// 144 d/dx (a df/dy): x is the outer direction, y the inner one.
LATH_KERNEL_BODY double mixed_difference(const double* f, std::int64_t outer, std::int64_t inner,
                                         const Line& a) {
  return (a.m2 * first_difference(f - 2 * outer, inner) - a.p2 * first_difference(f + 2 * outer, inner)) +
         8.0 * (a.p1 * first_difference(f + outer, inner) - a.m1 * first_difference(f - outer, inner));
}

struct Vector3 {
  double x, y, z;
};

/// `u` points at component x of the point in a field with strides `s`; `lambda` and `mu` at the point in
/// arrays with neighbours 1, m.j and m.k elements apart.
LATH_KERNEL_BODY Vector3 elastic_operator(const double* u, const Strides& s, const double* lambda,
                                          const double* mu, const Strides& m) {
  const double* v = u + s.c;
  const double* w = v + s.c;
  const Line lx = line(lambda, 1), ly = line(lambda, m.j), lz = line(lambda, m.k);
  const Line mx = line(mu, 1), my = line(mu, m.j), mz = line(mu, m.k);
  const Line px = p_wave_modulus(lx, mx), py = p_wave_modulus(ly, my), pz = p_wave_modulus(lz, mz);
  constexpr double mixed = 1.0 / 144.0;
  Vector3 result;
  result.x = second_derivative(u, s.i, px) + second_derivative(u, s.j, my) + second_derivative(u, s.k, mz) +
             mixed * (mixed_difference(v, s.i, s.j, lx) + mixed_difference(w, s.i, s.k, lx) +
                      mixed_difference(v, s.j, s.i, my) + mixed_difference(w, s.k, s.i, mz));
  result.y = second_derivative(v, s.i, mx) + second_derivative(v, s.j, py) + second_derivative(v, s.k, mz) +
             mixed * (mixed_difference(u, s.i, s.j, mx) + mixed_difference(u, s.j, s.i, ly) +
                      mixed_difference(w, s.j, s.k, ly) + mixed_difference(w, s.k, s.j, mz));
  result.z = second_derivative(w, s.i, mx) + second_derivative(w, s.j, my) + second_derivative(w, s.k, pz) +
             mixed * (mixed_difference(u, s.i, s.k, mx) + mixed_difference(v, s.j, s.k, my) +
                      mixed_difference(u, s.k, s.i, lz) + mixed_difference(v, s.k, s.j, lz));
  return result;
}

}  // namespace lath::wave
