#include "apps/wave/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <filesystem>

#include "apps/wave/colour_bar.hpp"
#include "base/error.hpp"

namespace {

using namespace lath::wave;

struct Image {
  unsigned width = 0;
  unsigned height = 0;
  std::vector<std::uint8_t> pixels;
};

Image read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  Image result{image.width, image.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
  EXPECT_NE(png_image_finish_read(&image, nullptr, result.pixels.data(), 0, nullptr), 0) << image.message;
  return result;
}

TEST(Picture, ColoursDivergeFromNearWhite) {
  const Colour zero = diverging_colour(0.0), positive = diverging_colour(1.0),
               negative = diverging_colour(-1.0);
  EXPECT_GT(zero.red, 240);
  EXPECT_GT(zero.blue, 240);
  EXPECT_GT(positive.red, positive.blue);
  EXPECT_GT(negative.blue, negative.red);
  EXPECT_EQ(diverging_colour(7.0).red, positive.red);
}

TEST(Picture, ScaleIgnoresFewOutliersAndKnowsZero) {
  Slice slice{100, 10, std::vector<double>(1000, 0.5)};
  slice.values[0] = 1e9;
  EXPECT_EQ(colour_scale(slice), 0.5);
  EXPECT_EQ(colour_scale(Slice{2, 2, {0, 0, 0, 0}}), 1.0);
}

TEST(Picture, FileHoldsTheValuesWhereTheyAre) {
  const std::string path = testing::TempDir() + "lath-picture-test.png";
  // Blue to the left, red to the right, and a line between the rows.
  write_png(path, Slice{2, 2, {-1.0, 1.0, -1.0, 1.0}}, 16, {0.5});
  const Image image = read_png(path);
  EXPECT_EQ(image.width, 16U);
  EXPECT_EQ(image.height, 16U + static_cast<unsigned>(colour_bar(16, 1.0, "m").height));
  const auto pixel = [&](unsigned x, unsigned y) { return image.pixels.data() + 3 * (y * image.width + x); };
  EXPECT_GT(pixel(0, 0)[2], pixel(0, 0)[0]);
  EXPECT_GT(pixel(15, 15)[0], pixel(15, 15)[2]);
  EXPECT_EQ(pixel(3, 8)[0], pixel(3, 8)[2]);
  EXPECT_NE(pixel(0, 9)[0], pixel(0, 9)[2]);
  std::filesystem::remove(path);
}

TEST(Picture, AFolderThatIsNotThereIsAnErrorThatNamesTheFile) {
  try {
    write_png("/nonexistent/a.png", Slice{1, 1, {0.0}}, 8);
    FAIL();
  } catch (const lath::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/nonexistent/a.png"));
  }
}

}  // namespace
