#include "apps/wave/colour_bar.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "apps/wave/picture.hpp"

namespace {

using namespace lath::wave;

const std::uint8_t* pixel(const ColourBar& bar, std::int64_t x, std::int64_t y) {
  return bar.pixels.data() + 3 * (y * bar.width + x);
}

/// Dark pixels of the values under the bar, in columns [from, to).
std::int64_t ink(const ColourBar& bar, std::int64_t from, std::int64_t to) {
  std::int64_t dark = 0;
  for (std::int64_t y = 20; y < bar.height; ++y)
    for (std::int64_t x = from; x < to; ++x) dark += pixel(bar, x, y)[0] < 100 ? 1 : 0;
  return dark;
}

TEST(ColourBar, GoesFromBlueOverWhiteToRed) {
  const ColourBar bar = colour_bar(800, 1e-3, "m");
  ASSERT_EQ(bar.pixels.size(), static_cast<std::size_t>(3 * bar.width * bar.height));
  EXPECT_GT(pixel(bar, 0, 10)[2], pixel(bar, 0, 10)[0]);
  EXPECT_GT(pixel(bar, 400, 10)[1], 240);
  EXPECT_GT(pixel(bar, 799, 10)[0], pixel(bar, 799, 10)[2]);
  EXPECT_EQ(pixel(bar, 400, 0)[0], 255) << "white above it";
}

TEST(ColourBar, ValuesStandUnderTheirPlaces) {
  const ColourBar bar = colour_bar(800, 1e-3, "m");
  EXPECT_GT(ink(bar, 0, 100), 0);
  EXPECT_GT(ink(bar, 390, 410), 0);
  EXPECT_GT(ink(bar, 700, 800), 0);
  EXPECT_EQ(ink(bar, 100, 390) + ink(bar, 410, 700), 0);
  EXPECT_NE(bar.pixels, colour_bar(800, 2e-3, "m").pixels);
  EXPECT_GT(ink(bar, 700, 800), ink(colour_bar(800, 1e-3, ""), 700, 800)) << "the unit is drawn, too";
}

TEST(ColourBar, ANarrowOneHasNoValues) {
  const ColourBar bar = colour_bar(16, 1e-3, "m");
  EXPECT_EQ(ink(bar, 0, 16), 0);
  EXPECT_EQ(pixel(bar, 15, 10)[0], diverging_colour(1.0 - 1.0 / 16).red);
}

}  // namespace
