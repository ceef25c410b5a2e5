#pragma once

#include <cstdint>

#include "datatypes/form.hpp"

namespace lath {

/// The canonical form of `count` elements of `type`, an extent apart. Time is linear in the type's
/// description: each constructor is visited at most twice, however often it is shared. Throws
/// Error(invalid_argument) where the total leaves 64 bits.
PlacedForm lower(const Datatype& type, std::int64_t count);

}  // namespace lath
