#include "cli/lengths.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "datatypes/cursor.hpp"

namespace lath::cli {
namespace {

class Counter {
 public:
  void add(std::int64_t length, std::int64_t segments) {
    counts_[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length)) - 1)] += segments;
    shortest_ = shortest_ == 0 ? length : std::min(shortest_, length);
    longest_ = std::max(longest_, length);
    examined_ += segments;
  }

  [[nodiscard]] LengthHistogram result(bool exact) const {
    LengthHistogram out{.shortest = shortest_, .longest = longest_, .examined = examined_, .exact = exact};
    for (std::size_t power = 0; power < counts_.size(); ++power)
      if (counts_[power] > 0) out.classes.push_back({std::int64_t{1} << power, counts_[power]});
    return out;
  }

 private:
  std::array<std::int64_t, 63> counts_{};
  std::int64_t shortest_ = 0, longest_ = 0, examined_ = 0;
};

}  // namespace

LengthHistogram length_histogram(const Layout& layout, std::int64_t limit) {
  Counter counter;
  if (layout.segment_count() == 0) return counter.result(true);
  if (layout.uniform_block() > 0) {
    counter.add(layout.uniform_block(), layout.segment_count());
    return counter.result(true);
  }
  std::int64_t left = limit;
  Cursor cursor(layout);
  for (; !cursor.at_end() && left > 0; --left) counter.add(cursor.next().length, 1);
  return counter.result(cursor.at_end());
}

}  // namespace lath::cli
