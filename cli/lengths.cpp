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
    LengthClass& of = classes_[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length)))];
    of.shortest = of.segments == 0 ? length : std::min(of.shortest, length);
    of.longest = std::max(of.longest, length);
    of.segments += segments;
  }

  [[nodiscard]] LengthHistogram result(bool exact) const {
    LengthHistogram out{.exact = exact};
    for (std::size_t bits = 1; bits < classes_.size(); ++bits) {
      if (classes_[bits].segments == 0) continue;
      out.classes.push_back(classes_[bits]);
      out.classes.back().least = std::int64_t{1} << (bits - 1);
      out.examined += classes_[bits].segments;
    }
    if (out.classes.empty()) return out;
    out.shortest = out.classes.front().shortest;
    out.longest = out.classes.back().longest;
    return out;
  }

 private:
  std::array<LengthClass, 64> classes_{};  // by the lengths' significant bits
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
