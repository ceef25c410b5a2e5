#include "apps/wave/colour_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "apps/wave/picture.hpp"

namespace lath::wave {
namespace {

constexpr std::int64_t gap = 6;          // white above the bar, and between bar and values
constexpr std::int64_t bar_height = 12;  // pixels
constexpr std::int64_t dot = 2;          // pixels a dot of a letter
constexpr std::int64_t letter_columns = 3, letter_rows = 5;
constexpr std::int64_t advance = (letter_columns + 1) * dot;

struct Letter {
  char character;
  std::array<std::uint8_t, letter_rows> rows;  ///< the leftmost dot is bit 2
};
constexpr std::array letters{
    Letter{'0', {7, 5, 5, 5, 7}}, Letter{'1', {2, 6, 2, 2, 7}}, Letter{'2', {7, 1, 7, 4, 7}},
    Letter{'3', {7, 1, 3, 1, 7}}, Letter{'4', {5, 5, 7, 1, 1}}, Letter{'5', {7, 4, 7, 1, 7}},
    Letter{'6', {7, 4, 7, 5, 7}}, Letter{'7', {7, 1, 1, 2, 2}}, Letter{'8', {7, 5, 7, 5, 7}},
    Letter{'9', {7, 5, 7, 1, 7}}, Letter{'+', {0, 2, 7, 2, 0}}, Letter{'-', {0, 0, 7, 0, 0}},
    Letter{'.', {0, 0, 0, 0, 2}}, Letter{'e', {0, 7, 7, 4, 7}}, Letter{'m', {0, 7, 7, 5, 5}},
    Letter{'s', {3, 4, 2, 1, 6}}};

void paint_pixel(ColourBar& bar, std::int64_t x, std::int64_t y, Colour colour) {
  const auto at = static_cast<std::size_t>(3 * (y * bar.width + x));
  bar.pixels[at] = colour.red;
  bar.pixels[at + 1] = colour.green;
  bar.pixels[at + 2] = colour.blue;
}

void write_letter(ColourBar& bar, std::int64_t left, std::int64_t top, char character) {
  const auto* const letter = std::find_if(letters.begin(), letters.end(),
                                          [&](const Letter& one) { return one.character == character; });
  if (letter == letters.end()) return;  // a blank
  for (std::int64_t y = 0; y < letter_rows * dot; ++y)
    for (std::int64_t x = 0; x < letter_columns * dot; ++x)
      if ((letter->rows[static_cast<std::size_t>(y / dot)] >> (letter_columns - 1 - x / dot) & 1) != 0)
        paint_pixel(bar, left + x, top + y, {30, 30, 30});
}

std::int64_t width_of(std::string_view text) {
  return static_cast<std::int64_t>(text.size()) * advance - dot;
}

void write(ColourBar& bar, std::int64_t left, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    write_letter(bar, left + static_cast<std::int64_t>(i) * advance, 2 * gap + bar_height, text[i]);
}

}  // namespace

ColourBar colour_bar(std::int64_t width, double scale, const std::string& unit) {
  ColourBar bar{width, 3 * gap + bar_height + letter_rows * dot, {}};
  bar.pixels.assign(static_cast<std::size_t>(3 * bar.width * bar.height), 255);
  for (std::int64_t x = 0; x < width; ++x) {
    const double place = (static_cast<double>(x) + 0.5) / static_cast<double>(width);
    for (std::int64_t y = 0; y < bar_height; ++y)
      paint_pixel(bar, x, gap + y, diverging_colour(2.0 * place - 1.0));
  }
  const std::string low = fmt::format("{:+.2e} {}", -scale, unit);
  const std::string high = fmt::format("{:+.2e} {}", scale, unit);
  if (width < width_of(low) + width_of(high) + 3 * advance) return bar;
  write(bar, 0, low);
  write(bar, (width - width_of("0")) / 2, "0");
  write(bar, width - width_of(high), high);
  return bar;
}

}  // namespace lath::wave
