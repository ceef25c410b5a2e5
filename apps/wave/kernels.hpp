#pragma once

#include <cstdint>

#include "apps/wave/array_order.hpp"
#include "apps/wave/stencil.hpp"
#include "gpu/kernel.hpp"

/// The bodies of the application's kernels. One time step from `before` and `now` to `next`:
///   predictor     next = 2 now - before + dt^2 (L(now) + f) / rho
///   acceleration  a = (next - 2 now + before) / dt^2, ghost points too
///   corrector     next = next + dt^4/12 (L(a) + f'') / rho, then damping
/// which is fourth order in time.
namespace lath::wave {

/// What both stencil kernels read. Arrays of one value a point lie in (i,j,k) order.
struct Medium {
  Extents n;
  const double* lambda;
  const double* mu;
  const double* inverse_density;
  /// Half the damping rate times the time step, by point along each direction; the sum counts.
  const double* damping_i;
  const double* damping_j;
  const double* damping_k;
};

struct PredictorArguments {
  Medium medium;
  const double* before;
  const double* now;
  double* next;
  double scale;  ///< dt^2 / h^2
};

struct CorrectorArguments {
  Medium medium;
  const double* before;
  const double* acceleration;
  double* next;
  double scale;  ///< dt^4 / (12 h^2)
};

struct AccelerationArguments {
  std::uint64_t elements;
  const double* before;
  const double* now;
  const double* next;
  double* acceleration;
  double scale;  ///< 1 / dt^2
};

/// Elements of a field named one by one.
struct PointArguments {
  std::uint64_t points;
  const std::int64_t* element;
  const double* value;
  double* field;
  double scale;
};

struct RecordArguments {
  std::uint64_t points;
  const std::int64_t* element;
  const double* field;
  double* series;
};

/// Points that a block updates: all but the ghost points.
LATH_WAVE_BOTH constexpr std::uint64_t interior_count(const Extents& n) {
  return static_cast<std::uint64_t>((n.i - 2 * ghosts) * (n.j - 2 * ghosts) * (n.k - 2 * ghosts));
}

struct Point {
  std::int64_t i, j, k;
};

LATH_KERNEL_BODY Point interior_point(const Extents& n, std::uint64_t number) {
  const auto ni = static_cast<std::uint64_t>(n.i - 2 * ghosts);
  const auto nj = static_cast<std::uint64_t>(n.j - 2 * ghosts);
  const std::uint64_t row = number / ni;
  return Point{static_cast<std::int64_t>(number % ni) + ghosts, static_cast<std::int64_t>(row % nj) + ghosts,
               static_cast<std::int64_t>(row / nj) + ghosts};
}

/// The medium with every array at the address by which the kernel reaches it.
LATH_KERNEL_BODY Medium reachable(const Medium& medium, const gpu::Grid& grid) {
  return Medium{medium.n,
                grid.address(medium.lambda),
                grid.address(medium.mu),
                grid.address(medium.inverse_density),
                grid.address(medium.damping_i),
                grid.address(medium.damping_j),
                grid.address(medium.damping_k)};
}

/// Calls update(medium, point, element, strides, change) for this thread's points inside: the point's first
/// component is the field's element `element`, and change is `scale` times the elastic operator on `field`,
/// divided by the density.
template <Order order, class Update>
LATH_KERNEL_BODY void update_interior(const Medium& given, const double* field, double scale,
                                      const gpu::Grid& grid, const Update& update) {
  const Medium medium = reachable(given, grid);
  const double* values = grid.address(field);
  const Strides s = strides_of<order>(medium.n);
  const Strides m = strides_of<Order::c>(medium.n);
  const std::uint64_t work = interior_count(medium.n);
  for (std::uint64_t number = grid.first(); number < work; number += grid.step()) {
    const Point p = interior_point(medium.n, number);
    const std::int64_t at = element(s, 0, p.i, p.j, p.k);
    const std::int64_t cell = element(m, 0, p.i, p.j, p.k);
    const Vector3 force = elastic_operator(values + at, s, medium.lambda + cell, medium.mu + cell, m);
    const double factor = scale * medium.inverse_density[cell];
    update(medium, p, at, s, Vector3{factor * force.x, factor * force.y, factor * force.z});
  }
}

template <Order order>
LATH_KERNEL_BODY void predictor_body(const PredictorArguments& args, const gpu::Grid& grid) {
  const double* before = grid.address(args.before);
  const double* now = grid.address(args.now);
  double* next = grid.address(args.next);
  update_interior<order>(
      args.medium, args.now, args.scale, grid,
      [=](const Medium&, const Point&, std::int64_t at, const Strides& s, const Vector3& change) {
        next[at] = 2.0 * now[at] - before[at] + change.x;
        next[at + s.c] = 2.0 * now[at + s.c] - before[at + s.c] + change.y;
        next[at + 2 * s.c] = 2.0 * now[at + 2 * s.c] - before[at + 2 * s.c] + change.z;
      });
}

template <Order order>
LATH_KERNEL_BODY void corrector_body(const CorrectorArguments& args, const gpu::Grid& grid) {
  const double* before = grid.address(args.before);
  double* next = grid.address(args.next);
  update_interior<order>(
      args.medium, args.acceleration, args.scale, grid,
      [=](const Medium& medium, const Point& p, std::int64_t at, const Strides& s, const Vector3& change) {
        const double damping = medium.damping_i[p.i] + medium.damping_j[p.j] + medium.damping_k[p.k];
        const double kept = 1.0 / (1.0 + damping);
        const double lost = damping * kept;
        next[at] = kept * (next[at] + change.x) + lost * before[at];
        next[at + s.c] = kept * (next[at + s.c] + change.y) + lost * before[at + s.c];
        next[at + 2 * s.c] = kept * (next[at + 2 * s.c] + change.z) + lost * before[at + 2 * s.c];
      });
}

LATH_KERNEL_BODY void acceleration_body(const AccelerationArguments& args, const gpu::Grid& grid) {
  const double* before = grid.address(args.before);
  const double* now = grid.address(args.now);
  const double* next = grid.address(args.next);
  double* acceleration = grid.address(args.acceleration);
  for (std::uint64_t e = grid.first(); e < args.elements; e += grid.step()) {
    acceleration[e] = (next[e] - 2.0 * now[e] + before[e]) * args.scale;
  }
}

/// Calls update(field element, scale * value) for this thread's points.
template <class Update>
LATH_KERNEL_BODY void update_points(const PointArguments& args, const gpu::Grid& grid, const Update& update) {
  const std::int64_t* element = grid.address(args.element);
  const double* value = grid.address(args.value);
  double* field = grid.address(args.field);
  for (std::uint64_t p = grid.first(); p < args.points; p += grid.step()) {
    update(field[element[p]], args.scale * value[p]);
  }
}

/// field[element] += scale * value. No element is named twice.
LATH_KERNEL_BODY void add_points_body(const PointArguments& args, const gpu::Grid& grid) {
  update_points(args, grid, [](double& at, double value) { at += value; });
}

/// field[element] = scale * value.
LATH_KERNEL_BODY void set_points_body(const PointArguments& args, const gpu::Grid& grid) {
  update_points(args, grid, [](double& at, double value) { at = value; });
}

LATH_KERNEL_BODY void record_points_body(const RecordArguments& args, const gpu::Grid& grid) {
  const std::int64_t* element = grid.address(args.element);
  const double* field = grid.address(args.field);
  double* series = grid.address(args.series);
  for (std::uint64_t p = grid.first(); p < args.points; p += grid.step()) series[p] = field[element[p]];
}

}  // namespace lath::wave
