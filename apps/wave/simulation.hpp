#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/wave/decomposition.hpp"
#include "apps/wave/exchange.hpp"
#include "apps/wave/kernels.hpp"
#include "apps/wave/problem.hpp"
#include "apps/wave/processor.hpp"

namespace lath::wave {

/// One rank's part of a computation. The final field's bits depend on the problem alone, not on the number of
/// ranks, the order, the memory or the exchange.
class Simulation {
 public:
  Simulation(const Problem& problem, const Block& block, Order order, Memory memory);
  /// The fields that exchange() below is asked for by number.
  [[nodiscard]] std::vector<double*> fields() const;
  /// One time step.
  void advance(Exchange& exchange);
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] const Block& block() const { return block_; }
  [[nodiscard]] Order order() const { return order_; }
  /// The displacement now, in host memory, ghost points included.
  [[nodiscard]] std::vector<double> displacement();

  /// What a receiver of this rank's block has recorded.
  struct Series {
    std::size_t receiver = 0;    ///< number in the problem
    std::vector<double> values;  ///< x, y, z after step 1, 2, ...
  };
  [[nodiscard]] std::vector<Series> recorded();

 private:
  /// Elements that a time function drives.
  struct Driven {
    Array<std::int64_t> element;
    Array<double> value;
    TimeFunction time;
  };
  struct DrivenPoints;

  void make_material(const Problem& problem);
  void make_damping(const Problem& problem);
  void make_sources(const Problem& problem);
  void make_manufactured();
  void make_receivers(const Problem& problem);
  void drive(Kernel kernel, const Driven& driven, double* field, double scale);
  [[nodiscard]] Driven driven(const DrivenPoints& points, const TimeFunction& time) const;
  [[nodiscard]] Medium medium() const;
  void record();

  Problem problem_;
  Block block_;
  Extents extents_;
  Order order_;
  Strides strides_;
  Processor processor_;
  std::int64_t step_ = 0;
  Array<double> lambda_, mu_, inverse_density_;
  std::array<Array<double>, 3> damping_;
  std::array<Array<double>, 3> fields_;
  Array<double> acceleration_;
  std::size_t before_ = 0, now_ = 1, next_ = 2;
  std::vector<Driven> forces_;
  std::vector<Driven> prescribed_;
  std::vector<std::size_t> receivers_;
  Array<std::int64_t> receiver_elements_;
  Array<double> series_;
};

}  // namespace lath::wave
