#include "apps/wave/picture.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "apps/wave/colour_bar.hpp"
#include "base/error.hpp"

namespace lath::wave {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

[[noreturn]] void cannot_write(const std::string& path, const std::string& why, int code) {
  throw Error(Domain::system, code, fmt::format("cannot write {}: {}", path, why));
}

std::uint8_t blend(double from, double to, double part) {
  return static_cast<std::uint8_t>(std::lround(from + (to - from) * part));
}

/// Bilinear, at (row, column) in points.
double interpolate(const Slice& slice, double row, double column) {
  const auto clamp = [](double at, std::int64_t count) {
    return std::clamp(at, 0.0, static_cast<double>(count - 1));
  };
  row = clamp(row, slice.rows);
  column = clamp(column, slice.columns);
  const auto row0 = static_cast<std::int64_t>(row), column0 = static_cast<std::int64_t>(column);
  const std::int64_t row1 = std::min(row0 + 1, slice.rows - 1);
  const std::int64_t column1 = std::min(column0 + 1, slice.columns - 1);
  const double down = row - static_cast<double>(row0), right = column - static_cast<double>(column0);
  const auto at = [&](std::int64_t r, std::int64_t c) {
    return slice.values[static_cast<std::size_t>(r * slice.columns + c)];
  };
  return (1.0 - down) * ((1.0 - right) * at(row0, column0) + right * at(row0, column1)) +
         down * ((1.0 - right) * at(row1, column0) + right * at(row1, column1));
}

std::vector<std::uint8_t> paint(const Slice& slice, std::int64_t zoom, double scale,
                                const std::vector<double>& lines) {
  const std::int64_t width = slice.columns * zoom, height = slice.rows * zoom;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(width * height * 3));
  for (std::int64_t y = 0; y < height; ++y) {
    const double row = (static_cast<double>(y) + 0.5) / static_cast<double>(zoom) - 0.5;
    const bool line = std::any_of(lines.begin(), lines.end(), [&](double at) {
      return y == std::llround((at + 0.5) * static_cast<double>(zoom));
    });
    for (std::int64_t x = 0; x < width; ++x) {
      const double column = (static_cast<double>(x) + 0.5) / static_cast<double>(zoom) - 0.5;
      const Colour colour =
          line ? Colour{90, 90, 90} : diverging_colour(interpolate(slice, row, column) / scale);
      pixels.insert(pixels.end(), {colour.red, colour.green, colour.blue});
    }
  }
  return pixels;
}

}  // namespace

Colour diverging_colour(double value) {
  const double part = std::min(std::fabs(value), 1.0);
  // Two straight pieces a side, so that weak waves are seen beside strong ones.
  const double light = std::min(part * 2.0, 1.0), dark = std::max(part * 2.0 - 1.0, 0.0);
  if (value < 0.0) {
    if (dark > 0.0) return {blend(67, 5, dark), blend(147, 48, dark), blend(195, 97, dark)};
    return {blend(247, 67, light), blend(247, 147, light), blend(247, 195, light)};
  }
  if (dark > 0.0) return {blend(214, 103, dark), blend(96, 0, dark), blend(77, 31, dark)};
  return {blend(247, 214, light), blend(247, 96, light), blend(247, 77, light)};
}

double colour_scale(const Slice& slice) {
  std::vector<double> magnitudes(slice.values.size());
  std::transform(slice.values.begin(), slice.values.end(), magnitudes.begin(),
                 [](double value) { return std::fabs(value); });
  if (magnitudes.empty()) return 1.0;
  const std::size_t within = (magnitudes.size() - 1) * 995 / 1000;
  std::nth_element(magnitudes.begin(), magnitudes.begin() + static_cast<std::ptrdiff_t>(within),
                   magnitudes.end());
  return magnitudes[within] > 0.0 ? magnitudes[within] : 1.0;
}

void write_png(const std::string& path, const Slice& slice, std::int64_t width,
               const std::vector<double>& lines) {
  const std::int64_t zoom =
      std::clamp((width + slice.columns - 1) / slice.columns, std::int64_t{1}, std::int64_t{32});
  const double scale = colour_scale(slice);
  std::vector<std::uint8_t> pixels = paint(slice, zoom, scale, lines);
  const ColourBar bar = colour_bar(slice.columns * zoom, scale, "m");
  pixels.insert(pixels.end(), bar.pixels.begin(), bar.pixels.end());
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (!file) cannot_write(path, std::strerror(errno), errno);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(slice.columns * zoom);
  image.height = static_cast<png_uint_32>(slice.rows * zoom + bar.height);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_stdio(&image, file.get(), 0, pixels.data(), 0, nullptr) == 0) {
    cannot_write(path, image.message, EIO);
  }
  if (std::fflush(file.get()) != 0) cannot_write(path, std::strerror(errno), errno);
}

}  // namespace lath::wave
