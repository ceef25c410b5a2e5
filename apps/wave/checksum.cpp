#include "apps/wave/checksum.hpp"

#include <bit>

namespace lath::wave {
namespace {

/// Each input bit changes about half of the output's.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dULL;
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dULL;
  x ^= x >> 28;
  return x;
}

}  // namespace

std::uint64_t checksum(std::span<const double> field, const Block& block, Order order,
                       const std::array<std::int64_t, 3>& points) {
  const Strides strides = strides_of(order, block.extents());
  std::uint64_t sum = 0;
  for (std::int64_t k = 0; k < block.range[2].count; ++k) {
    for (std::int64_t j = 0; j < block.range[1].count; ++j) {
      for (std::int64_t i = 0; i < block.range[0].count; ++i) {
        for (std::int64_t c = 0; c < components; ++c) {
          const std::int64_t place =
              (((k + block.range[2].first) * points[1] + j + block.range[1].first) * points[0] + i +
               block.range[0].first) *
                  components +
              c;
          const double value =
              field[static_cast<std::size_t>(element(strides, c, i + ghosts, j + ghosts, k + ghosts))];
          sum += mix(mix(static_cast<std::uint64_t>(place) + 1) ^ std::bit_cast<std::uint64_t>(value));
        }
      }
    }
  }
  return sum;
}

}  // namespace lath::wave
