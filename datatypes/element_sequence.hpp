#pragma once

#include <cstdint>

#include "datatypes/datatype.hpp"

namespace lath {

/// A sequence of basic elements as a polynomial hash over the prime 2^61 - 1, so that concatenation and
/// repetition need no walk over the elements.
struct ElementSequence {
  std::int64_t elements = 0;
  std::uint64_t hash = 0;
  std::uint64_t power = 1;  ///< the base to the power of `elements`

  static ElementSequence of(Basic element) noexcept;
};

ElementSequence concatenated(const ElementSequence& first, const ElementSequence& second) noexcept;
/// In O(log count) steps. The caller has made sure that the number of elements fits.
ElementSequence repeated(ElementSequence sequence, std::int64_t count) noexcept;

}  // namespace lath
