#pragma once

#include <cstdint>
#include <vector>

#include "datatypes/layout.hpp"

namespace lath::cli {

/// How many of a layout's merged segments have a length in [least, 2 * least).
struct LengthClass {
  std::int64_t least = 0;                  ///< bytes, a power of two
  std::int64_t shortest = 0, longest = 0;  ///< bytes, of those met
  std::int64_t segments = 0;
};

struct LengthHistogram {
  std::vector<LengthClass> classes = {};  ///< by rising length, empty ones left out
  std::int64_t shortest = 0, longest = 0;
  std::int64_t examined = 0;  ///< segments that were looked at; layout.segment_count() where exact
  bool exact = true;
};

/// Exact where the canonical form tells all lengths or the layout has at most `limit` segments; else over the
/// first `limit` segments.
[[nodiscard]] LengthHistogram length_histogram(const Layout& layout, std::int64_t limit = 1 << 22);

}  // namespace lath::cli
