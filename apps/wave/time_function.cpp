#include "apps/wave/time_function.hpp"

#include <cmath>
#include <numbers>

namespace lath::wave {
namespace {

double square(double x) {
  return x * x;
}

}  // namespace

double TimeFunction::value(double time) const {
  const double t = time - delay;
  const double rate = 2.0 * std::numbers::pi * frequency;
  switch (kind) {
    case Kind::ricker: {
      const double a = square(0.5 * rate * t);
      return (1.0 - 2.0 * a) * std::exp(-a);
    }
    case Kind::gaussian:
      return std::exp(-0.5 * square(rate * t));
    case Kind::gaussian_step:
      return 0.5 * std::erfc(-rate * t / std::numbers::sqrt2);
    case Kind::brune_step:
      return t <= 0.0 ? 0.0 : 1.0 - (1.0 + rate * t) * std::exp(-rate * t);
    case Kind::cosine:
      return std::cos(rate * t);
  }
  return 0.0;
}

double TimeFunction::second_derivative(double time) const {
  const double t = time - delay;
  const double rate = 2.0 * std::numbers::pi * frequency;
  switch (kind) {
    case Kind::ricker: {
      const double half = square(0.5 * rate);
      const double a = half * t * t;
      return half * (-6.0 + 24.0 * a - 8.0 * a * a) * std::exp(-a);
    }
    case Kind::gaussian: {
      const double a = square(rate * t);
      return square(rate) * (a - 1.0) * std::exp(-0.5 * a);
    }
    case Kind::gaussian_step:
      return -rate * rate * rate * t * std::exp(-0.5 * square(rate * t)) / std::sqrt(2.0 * std::numbers::pi);
    case Kind::brune_step:
      return t <= 0.0 ? 0.0 : square(rate) * (1.0 - rate * t) * std::exp(-rate * t);
    case Kind::cosine:
      return -square(rate) * std::cos(rate * t);
  }
  return 0.0;
}

}  // namespace lath::wave
