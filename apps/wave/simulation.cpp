#include "apps/wave/simulation.hpp"

#include <algorithm>

#include "apps/wave/damping.hpp"
#include "apps/wave/manufactured.hpp"
#include "apps/wave/material.hpp"
#include "apps/wave/source_points.hpp"

namespace lath::wave {

struct Simulation::DrivenPoints {
  std::vector<std::int64_t> element;
  std::vector<double> value;

  void add(std::int64_t at, double with) {
    element.push_back(at);
    value.push_back(with);
  }
};

namespace {

template <class Body>
void for_each_point(const Extents& n, Body&& body) {
  for (std::int64_t k = 0; k < n.k; ++k) {
    for (std::int64_t j = 0; j < n.j; ++j) {
      for (std::int64_t i = 0; i < n.i; ++i) body(i, j, k);
    }
  }
}

/// Global point of a block's local one.
std::array<std::int64_t, 3> global(const Block& block, std::int64_t i, std::int64_t j, std::int64_t k) {
  return {block.range[0].first + i - ghosts, block.range[1].first + j - ghosts,
          block.range[2].first + k - ghosts};
}

}  // namespace

Simulation::Simulation(const Problem& problem, const Block& block, Order order, Memory memory)
    : problem_(problem),
      block_(block),
      extents_(block.extents()),
      order_(order),
      strides_(strides_of(order, extents_)),
      processor_(memory) {
  const auto elements = static_cast<std::size_t>(components * point_count(extents_));
  for (Array<double>& field : fields_) field = Array<double>(memory, elements);
  acceleration_ = Array<double>(memory, elements);
  make_material(problem);
  make_damping(problem);
  if (problem.mode == Problem::Mode::source) {
    make_sources(problem);
  } else {
    make_manufactured();
  }
  make_receivers(problem);
}

std::vector<double*> Simulation::fields() const {
  return {fields_[0].data(), fields_[1].data(), fields_[2].data()};
}

void Simulation::make_material(const Problem& problem) {
  const auto points = static_cast<std::size_t>(point_count(extents_));
  std::vector<double> lambda(points), mu(points), inverse_density(points);
  std::size_t cell = 0;
  for_each_point(extents_, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const Material material = material_at(problem, problem.position(global(block_, i, j, k)));
    lambda[cell] = material.lambda;
    mu[cell] = material.mu;
    inverse_density[cell] = 1.0 / material.density;
    ++cell;
  });
  lambda_ = Array<double>(processor_.memory(), lambda);
  mu_ = Array<double>(processor_.memory(), mu);
  inverse_density_ = Array<double>(processor_.memory(), inverse_density);
}

void Simulation::make_damping(const Problem& problem) {
  for (std::size_t d = 0; d < 3; ++d) {
    const Range& range = block_.range[d];
    std::vector<double> damping(static_cast<std::size_t>(range.count + 2 * ghosts));
    for (std::size_t p = 0; p < damping.size(); ++p) {
      const std::int64_t point = range.first + static_cast<std::int64_t>(p) - ghosts;
      damping[p] = 0.5 * problem.time_step * damping_rate(problem, d, point);
    }
    damping_[d] = Array<double>(processor_.memory(), damping);
  }
}

void Simulation::make_sources(const Problem& problem) {
  for (const Source& source : problem.sources) {
    DrivenPoints points;
    for (const SourcePoint& at : spread(problem, source)) {
      if (!block_.owns(at.point)) continue;
      const double inverse_density = 1.0 / material_at(problem, problem.position(at.point)).density;
      points.add(
          element(strides_, at.component, at.point[0] - block_.range[0].first + ghosts,
                  at.point[1] - block_.range[1].first + ghosts, at.point[2] - block_.range[2].first + ghosts),
          at.density * inverse_density);
    }
    forces_.push_back(driven(points, source.time));
  }
}

/// Forces everywhere inside; the exact solution at the ghost points beyond the grid, and at the start
/// everywhere.
void Simulation::make_manufactured() {
  DrivenPoints forces, beyond, everywhere;
  for_each_point(extents_, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const std::array<std::int64_t, 3> point = global(block_, i, j, k);
    const Position position = problem_.position(point);
    const Vector3 shape = manufactured::shape(position);
    const Vector3 force = manufactured::force(position);
    const double inverse_density = 1.0 / manufactured::material(position).density;
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d) inside = inside && point[d] >= 0 && point[d] < problem_.points[d];
    const std::array<double, 3> u{shape.x, shape.y, shape.z};
    const std::array<double, 3> f{force.x, force.y, force.z};
    for (std::size_t c = 0; c < 3; ++c) {
      const std::int64_t at = element(strides_, static_cast<std::int64_t>(c), i, j, k);
      everywhere.add(at, u[c]);
      if (!inside) beyond.add(at, u[c]);
      if (block_.owns(point)) forces.add(at, f[c] * inverse_density);
    }
  });
  const TimeFunction time = manufactured::time_function();
  forces_.push_back(driven(forces, time));
  prescribed_.push_back(driven(beyond, time));
  const Driven start = driven(everywhere, time);
  drive(Kernel::set_points, start, fields_[before_].data(), time.value(-problem_.time_step));
  drive(Kernel::set_points, start, fields_[now_].data(), time.value(0.0));
  processor_.finish();
}

void Simulation::make_receivers(const Problem& problem) {
  std::vector<std::int64_t> elements;
  for (std::size_t r = 0; r < problem.receivers.size(); ++r) {
    const std::array<std::int64_t, 3> point = problem.nearest_point(problem.receivers[r].position);
    if (!block_.owns(point)) continue;
    receivers_.push_back(r);
    for (std::int64_t c = 0; c < components; ++c) {
      elements.push_back(element(strides_, c, point[0] - block_.range[0].first + ghosts,
                                 point[1] - block_.range[1].first + ghosts,
                                 point[2] - block_.range[2].first + ghosts));
    }
  }
  receiver_elements_ = Array<std::int64_t>(processor_.memory(), elements);
  series_ = Array<double>(processor_.memory(), elements.size() * static_cast<std::size_t>(problem.steps));
}

Simulation::Driven Simulation::driven(const DrivenPoints& points, const TimeFunction& time) const {
  return Driven{Array<std::int64_t>(processor_.memory(), points.element),
                Array<double>(processor_.memory(), points.value), time};
}

void Simulation::drive(Kernel kernel, const Driven& driven, double* field, double scale) {
  const std::uint64_t points = driven.element.size();
  processor_.launch(kernel, points,
                    PointArguments{points, driven.element.data(), driven.value.data(), field, scale});
}

Medium Simulation::medium() const {
  return Medium{extents_,           lambda_.data(),     mu_.data(),        inverse_density_.data(),
                damping_[0].data(), damping_[1].data(), damping_[2].data()};
}

void Simulation::advance(Exchange& exchange) {
  const double dt = problem_.time_step;
  const double time = static_cast<double>(step_) * dt;
  const double scale = dt * dt / (problem_.spacing * problem_.spacing);
  const std::uint64_t work = interior_count(extents_);
  const bool c_order = order_ == Order::c;
  double* before = fields_[before_].data();
  double* now = fields_[now_].data();
  double* next = fields_[next_].data();

  processor_.launch(c_order ? Kernel::predictor_c : Kernel::predictor_fortran, work,
                    PredictorArguments{medium(), before, now, next, scale});
  for (const Driven& force : forces_) {
    drive(Kernel::add_points, force, next, dt * dt * force.time.value(time));
  }
  for (const Driven& points : prescribed_) {
    drive(Kernel::set_points, points, next, points.time.value(time + dt));
  }
  processor_.finish();
  exchange.exchange(next_);

  const std::uint64_t elements = acceleration_.size();
  processor_.launch(
      Kernel::acceleration, elements,
      AccelerationArguments{elements, before, now, next, acceleration_.data(), 1.0 / (dt * dt)});
  for (const Driven& force : forces_) {
    drive(Kernel::add_points, force, next, dt * dt * dt * dt / 12.0 * force.time.second_derivative(time));
  }
  processor_.launch(c_order ? Kernel::corrector_c : Kernel::corrector_fortran, work,
                    CorrectorArguments{medium(), before, acceleration_.data(), next, dt * dt / 12.0 * scale});
  processor_.finish();
  exchange.exchange(next_);

  ++step_;
  std::swap(before_, now_);
  std::swap(now_, next_);
  record();
}

void Simulation::record() {
  const std::uint64_t points = receiver_elements_.size();
  double* at = series_.data() + points * static_cast<std::uint64_t>(step_ - 1);
  processor_.launch(Kernel::record_points, points,
                    RecordArguments{points, receiver_elements_.data(), fields_[now_].data(), at});
}

std::vector<double> Simulation::displacement() {
  processor_.finish();
  return fields_[now_].to_host();
}

std::vector<Simulation::Series> Simulation::recorded() {
  processor_.finish();
  const std::vector<double> values = series_.to_host();
  std::vector<Series> result;
  for (std::size_t r = 0; r < receivers_.size(); ++r) {
    Series series{receivers_[r], {}};
    for (std::size_t step = 0; step < static_cast<std::size_t>(step_); ++step) {
      const double* at = values.data() + (step * receivers_.size() + r) * 3;
      series.values.insert(series.values.end(), at, at + 3);
    }
    result.push_back(std::move(series));
  }
  return result;
}

}  // namespace lath::wave
