#pragma once

#include <cstdint>
#include <span>

#include "apps/wave/decomposition.hpp"

namespace lath::wave {

/// The part of the field's checksum that a block's updated points give: a sum over (component, global point)
/// of a mix of the place and the value's bits. The sum over all blocks does not depend on how the grid is
/// divided, nor on the order in memory.
[[nodiscard]] std::uint64_t checksum(std::span<const double> field, const Block& block, Order order,
                                     const std::array<std::int64_t, 3>& points);

}  // namespace lath::wave
