#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lath::wave {

/// Values on a rectangle of points, row by row; the first row is the top of the picture.
struct Slice {
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::vector<double> values;
};

struct Colour {
  std::uint8_t red, green, blue;
};
/// A diverging map: blue for -1, near white for 0, red for +1. Values beyond are cut.
[[nodiscard]] Colour diverging_colour(double value);

/// The largest magnitude that colours should tell apart: all but the outermost half percent of the values lie
/// within; 1 where all are 0.
[[nodiscard]] double colour_scale(const Slice& slice);

/// Writes an RGB PNG with each point about `width`/columns pixels wide, interpolated; horizontal lines are
/// drawn above the given rows (fractions of rows are allowed). Below lies the colour bar (colour_bar.hpp),
/// with the values in metres. Throws Error(system) where it cannot be written.
void write_png(const std::string& path, const Slice& slice, std::int64_t width,
               const std::vector<double>& lines = {});

}  // namespace lath::wave
