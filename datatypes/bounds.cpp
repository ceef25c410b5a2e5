#include <algorithm>

#include "datatypes/checked.hpp"
#include "datatypes/node.hpp"

namespace lath {

Bounds repeat(const Bounds& bounds, std::int64_t count, std::int64_t stride, std::int64_t displacement) {
  if (count == 0 || !bounds.bounded) return {};
  const std::int64_t span = count == 1 ? 0 : checked_multiply(count - 1, stride, "a datatype's bound");
  const std::int64_t lowest =
      checked_add(displacement, std::min<std::int64_t>(span, 0), "a datatype's bound");
  const std::int64_t highest =
      checked_add(displacement, std::max<std::int64_t>(span, 0), "a datatype's bound");
  Bounds result = bounds;
  result.lower = checked_add(bounds.lower, lowest, "a datatype's bound");
  result.upper = checked_add(bounds.upper, highest, "a datatype's bound");
  static_cast<void>(checked_subtract(result.upper, result.lower, "a datatype's extent"));
  if (bounds.data) {
    result.true_lower = checked_add(bounds.true_lower, lowest, "a datatype's true bound");
    result.true_upper = checked_add(bounds.true_upper, highest, "a datatype's true bound");
    static_cast<void>(checked_subtract(result.true_upper, result.true_lower, "a datatype's true extent"));
  }
  return result;
}

void widen(Bounds& bounds, const Bounds& part) {
  if (!part.bounded) return;
  if (part.data) {
    bounds.true_lower = bounds.data ? std::min(bounds.true_lower, part.true_lower) : part.true_lower;
    bounds.true_upper = bounds.data ? std::max(bounds.true_upper, part.true_upper) : part.true_upper;
    bounds.data = true;
  }
  if (!bounds.bounded || (part.marked && !bounds.marked)) {
    bounds.lower = part.lower;
    bounds.upper = part.upper;
  } else if (part.marked == bounds.marked) {
    bounds.lower = std::min(bounds.lower, part.lower);
    bounds.upper = std::max(bounds.upper, part.upper);
  }
  bounds.bounded = true;
  bounds.marked = bounds.marked || part.marked;
  static_cast<void>(checked_subtract(bounds.upper, bounds.lower, "a datatype's extent"));
  static_cast<void>(checked_subtract(bounds.true_upper, bounds.true_lower, "a datatype's true extent"));
}

}  // namespace lath
