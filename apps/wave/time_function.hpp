#pragma once

#include <cstdint>
#include <string_view>

namespace lath::wave {

/// A source's dependence on time (seconds), with its second derivative, which fourth-order stepping needs.
struct TimeFunction {
  enum class Kind : std::uint8_t {
    ricker,         ///< (1 - 2 a) exp(-a), a = (pi f (t - t0))^2
    gaussian,       ///< exp(-(t - t0)^2 / (2 s^2)), s = 1 / (2 pi f)
    gaussian_step,  ///< integral of a Gaussian of unit area: rises from 0 to 1 about t0, s as above
    brune_step,     ///< 1 - (1 + t/T) exp(-t/T) for t > 0, T = 1 / (2 pi f); rises from 0 to 1
    cosine          ///< cos(2 pi f t)
  };
  Kind kind = Kind::ricker;
  double frequency = 1.0;  ///< f, hertz
  double delay = 0.0;      ///< t0; the start for brune_step

  [[nodiscard]] double value(double time) const;
  [[nodiscard]] double second_derivative(double time) const;
};

}  // namespace lath::wave
