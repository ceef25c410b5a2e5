#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lath::wave {

/// The key to a picture's colours, drawn below it: the map from -scale to +scale, with those two values and 0
/// under their places.
struct ColourBar {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> pixels;  ///< RGB, row by row
};

/// `unit` stands behind the values: letters that the bar can draw are "m" and "s". Values for which the width
/// leaves no room are left out.
[[nodiscard]] ColourBar colour_bar(std::int64_t width, double scale, const std::string& unit);

}  // namespace lath::wave
