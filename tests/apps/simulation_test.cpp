#include "apps/wave/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/wave/checksum.hpp"
#include "apps/wave/damping.hpp"
#include "apps/wave/material.hpp"

namespace {

using namespace lath::wave;

Problem whole_space(std::int64_t points) {
  Problem problem;
  problem.points = {points, points, points};
  problem.spacing = 0.1;
  problem.top = Problem::Top::damped;
  problem.layers = {Layer{0.0, std::numbers::sqrt3, 1.0, 1.0}};
  problem.damping_points = 6;
  return problem;
}

void run(Simulation& simulation, std::int64_t steps) {
  const std::unique_ptr<Exchange> nothing = no_exchange();
  for (std::int64_t step = 0; step < steps; ++step) simulation.advance(*nothing);
}

/// Stokes' solution: the displacement in direction `i` at `offset` from a force along x, density 1.
double exact(const Position& offset, std::size_t i, const TimeFunction& force, double time, double vp,
             double vs) {
  const double r = std::sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
  const double along = offset[i] * offset[0] / (r * r), same = i == 0 ? 1.0 : 0.0;
  double near = 0.0;
  const int pieces = 400;
  const double from = r / vp, width = (r / vs - r / vp) / pieces;
  for (int p = 0; p < pieces; ++p) {
    const double tau = from + (p + 0.5) * width;
    near += tau * force.value(time - tau) * width;
  }
  return ((3.0 * along - same) / (r * r * r) * near + along / (vp * vp * r) * force.value(time - r / vp) -
          (along - same) / (vs * vs * r) * force.value(time - r / vs)) /
         (4.0 * std::numbers::pi);
}

TEST(Simulation, APointForceInAWholeSpaceGivesStokesSolution) {
  // So large that no reflection from the sides is back in time.
  Problem problem = whole_space(61);
  set_time(problem, 2.5, 1.2);
  Source source;
  source.position = {3.0, 3.0, 3.0};
  source.force = {1.0, 0.0, 0.0};
  source.time = TimeFunction{TimeFunction::Kind::gaussian, 0.5, 1.3};
  problem.sources = {source};
  problem.receivers = {{"a", {4.0, 3.0, 3.0}}, {"b", {3.0, 3.0, 4.0}}, {"c", {3.6, 3.8, 3.0}}};
  Simulation simulation(problem, decompose(problem.points, 1, 0), Order::c, Memory::host);
  run(simulation, problem.steps);
  for (const Simulation::Series& series : simulation.recorded()) {
    const Position& at = problem.receivers[series.receiver].position;
    double peak = 0.0, worst = 0.0;
    for (std::int64_t step = 0; step < problem.steps; ++step) {
      for (std::size_t i = 0; i < 3; ++i) {
        const double expected =
            exact({at[0] - 3.0, at[1] - 3.0, at[2] - 3.0}, i, source.time,
                  static_cast<double>(step + 1) * problem.time_step, std::numbers::sqrt3, 1.0);
        peak = std::max(peak, std::fabs(expected));
        worst = std::max(worst, std::fabs(series.values[static_cast<std::size_t>(step) * 3 + i] - expected));
      }
    }
    EXPECT_LT(worst, 0.02 * peak) << problem.receivers[series.receiver].name;
  }
}

/// Long after the source has ended, nothing may grow: at the largest time step, with a free top, for solids
/// of small and large vp/vs.
TEST(Simulation, IsStableAtTheLargestTimeStep) {
  for (double vp : {1.2, std::numbers::sqrt3, 4.0}) {
    Problem problem = whole_space(13);
    problem.top = Problem::Top::free;
    problem.layers[0].vp = vp;
    problem.damping_points = 0;
    problem.time_step = largest_cfl * problem.spacing / time_scale_speed(problem);
    problem.steps = 600;
    Source source;
    source.position = {0.55, 0.62, 0.04};
    source.force = {1.0, 0.5, 0.7};
    // So short that it excites what the grid can carry.
    source.time =
        TimeFunction{TimeFunction::Kind::gaussian, 0.4 / problem.time_step, 5.0 * problem.time_step};
    problem.sources = {source};
    Simulation simulation(problem, decompose(problem.points, 1, 0), Order::fortran, Memory::host);
    const auto largest = [&] {
      double most = 0.0;
      for (double value : simulation.displacement()) most = std::max(most, std::fabs(value));
      return most;
    };
    run(simulation, 20);
    const double early = largest();
    run(simulation, problem.steps - 20);
    EXPECT_GT(early, 0.0);
    EXPECT_LT(largest(), 3.0 * early) << vp;
  }
}

/// Above a source the ground moves about twice as much as the same point in a whole space; a little less,
/// because the receiver is half a spacing deep and the wave is not plane.
TEST(Simulation, AFreeSurfaceDoublesTheMotion) {
  Problem problem = whole_space(41);
  problem.top = Problem::Top::free;
  problem.damping_points = 12;
  set_time(problem, 3.3, 1.2);
  Source source;
  source.position = {2.0, 2.0, 1.5};
  source.force = {1.0, 0.0, 0.0};
  source.time = TimeFunction{TimeFunction::Kind::ricker, 0.8, 1.5};
  problem.sources = {source};
  problem.receivers = {{"top", {2.0, 2.0, 0.0}}};
  Simulation simulation(problem, decompose(problem.points, 1, 0), Order::c, Memory::host);
  run(simulation, problem.steps);
  const Simulation::Series series = simulation.recorded().at(0);
  double most = 0.0, whole = 0.0;
  for (std::size_t step = 0; 3 * step < series.values.size(); ++step) {
    most = std::max(most, std::fabs(series.values[3 * step]));
    whole = std::max(
        whole, std::fabs(exact({0.0, 0.0, -1.5}, 0, source.time,
                               static_cast<double>(step + 1) * problem.time_step, std::numbers::sqrt3, 1.0)));
  }
  EXPECT_GT(most, 1.7 * whole);
  EXPECT_LT(most, 2.05 * whole);
}

/// After the pulse has crossed the grid only what the sides sent back is left.
TEST(Simulation, DampedSidesSendLittleBack) {
  Problem problem = whole_space(41);
  problem.damping_points = 12;
  set_time(problem, 6.0, 1.2);
  Source source;
  source.position = {2.0, 2.0, 2.0};
  source.moment = {1.0, 0.0, 0.0, 1.0, 0.0, 1.0};
  source.time = TimeFunction{TimeFunction::Kind::ricker, 1.2, 1.0};
  problem.sources = {source};
  problem.receivers = {{"near", {2.5, 2.0, 2.0}}};
  Simulation simulation(problem, decompose(problem.points, 1, 0), Order::c, Memory::host);
  run(simulation, problem.steps);
  const Simulation::Series series = simulation.recorded().at(0);
  double most = 0.0, late = 0.0;
  for (std::size_t step = 0; 3 * step < series.values.size(); ++step) {
    const double value = std::fabs(series.values[3 * step]);
    most = std::max(most, value);
    if (static_cast<double>(step + 1) * problem.time_step > 2.5) late = std::max(late, value);
  }
  EXPECT_LT(late, 0.1 * most);
}

TEST(Simulation, DampingIsZeroInsideAndAtAFreeTop) {
  Problem problem = whole_space(41);
  EXPECT_EQ(damping_rate(problem, 0, 20), 0.0);
  EXPECT_EQ(damping_rate(problem, 0, 6), 0.0);
  EXPECT_GT(damping_rate(problem, 0, 5), 0.0);
  EXPECT_EQ(damping_rate(problem, 1, 0), damping_rate(problem, 1, 40));
  EXPECT_GT(damping_rate(problem, 2, 0), 0.0);
  problem.top = Problem::Top::free;
  EXPECT_EQ(damping_rate(problem, 2, 0), 0.0);
  EXPECT_GT(damping_rate(problem, 2, 40), 0.0);
}

TEST(Simulation, LayersBeginAtTheirDepths) {
  Problem problem = whole_space(20);
  problem.top = Problem::Top::free;
  problem.layers.push_back(Layer{1.0, 4.0, 2.0, 3.0});
  EXPECT_EQ(material_at(problem, {0.0, 0.0, -0.05}).mu, 0.0);
  EXPECT_EQ(material_at(problem, {0.0, 0.0, 0.95}).density, 1.0);
  EXPECT_EQ(material_at(problem, {0.0, 0.0, 1.0}).density, 3.0);
  EXPECT_DOUBLE_EQ(material_at(problem, {0.0, 0.0, 5.0}).lambda, 3.0 * (16.0 - 8.0));
}

TEST(Checksum, DependsOnValuesAndPlacesNotOnOrderOrDivision) {
  const std::array<std::int64_t, 3> points{8, 6, 4};
  const auto value = [](std::int64_t c, std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<double>(c + 10 * i + 100 * j + 1000 * k) / 7.0;
  };
  const auto total = [&](int ranks, Order order, bool swap) {
    std::uint64_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Block block = decompose(points, ranks, rank);
      const Extents n = block.extents();
      const Strides s = strides_of(order, n);
      std::vector<double> field(static_cast<std::size_t>(3 * point_count(n)));
      for (std::int64_t c = 0; c < 3; ++c) {
        for (std::int64_t k = 0; k < n.k; ++k) {
          for (std::int64_t j = 0; j < n.j; ++j) {
            for (std::int64_t i = 0; i < n.i; ++i) {
              const std::int64_t x = block.range[0].first + i - 2, y = block.range[1].first + j - 2;
              field[static_cast<std::size_t>(element(s, c, i, j, k))] =
                  swap ? value(c, 7 - x, y, k - 2) : value(c, x, y, k - 2);
            }
          }
        }
      }
      sum += checksum(field, block, order, points);
    }
    return sum;
  };
  const std::uint64_t reference = total(1, Order::c, false);
  EXPECT_EQ(total(1, Order::fortran, false), reference);
  EXPECT_EQ(total(4, Order::c, false), reference);
  EXPECT_EQ(total(2, Order::fortran, false), reference);
  EXPECT_NE(total(1, Order::c, true), reference);
}

}  // namespace
