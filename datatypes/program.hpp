#pragma once

#include <memory>

#include "datatypes/form.hpp"

namespace lath {

/// A whole layout: a form, and the figures that callers ask for, counted from the buffer's address. A table's
/// form keeps offsets from the buffer, so `root.offset` is 0 there.
struct Layout::Program {
  PlacedForm root;  ///< no form: empty
  LayoutKind kind = LayoutKind::empty;
  StridedNest nest;
  std::int64_t bytes = 0;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  std::int64_t alignment = 0;
  LayoutHash hash;
};

/// Throws Error(invalid_argument) where a bound leaves 64 bits.
std::shared_ptr<const Layout::Program> make_program(PlacedForm root);

}  // namespace lath
