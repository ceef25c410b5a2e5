#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

#include "datatypes/cursor.hpp"
#include "datatypes/layout.hpp"
#include "datatypes/type_spec.hpp"

namespace lath {
namespace {

using Bytes = std::vector<std::byte>;

Layout layout(const char* text, std::int64_t count = 1) {
  return Layout::of(parse_type(text), count);
}

Bytes random_bytes(std::int64_t length) {
  std::mt19937_64 random(7);
  Bytes bytes(static_cast<std::size_t>(length));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Pack, BL20_PositionGrowsBySize) {
  const Layout parts[] = {layout("vector(2,1,3,int)"), layout("short"), layout("int", 2)};
  const std::int64_t offsets[] = {0, 16, 20};
  const Bytes memory = random_bytes(28);
  Bytes packed(18);
  std::vector<std::int64_t> positions;
  std::int64_t position = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    pack(parts[i], memory.data() + offsets[i], {0, parts[i].bytes()}, packed.data() + position);
    positions.push_back(position += parts[i].bytes());
  }
  EXPECT_EQ(positions, (std::vector<std::int64_t>{8, 10, 18}));
  EXPECT_EQ(std::memcmp(packed.data() + 10, memory.data() + 20, 8), 0);
  Bytes target(28);
  position = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    unpack(parts[i], target.data() + offsets[i], {0, parts[i].bytes()}, packed.data() + position);
    position += parts[i].bytes();
  }
  for (const std::size_t i : {0U, 3U, 12U, 15U, 16U, 17U, 20U, 27U}) EXPECT_EQ(target[i], memory[i]) << i;
  EXPECT_EQ(target[4], std::byte{0});
  EXPECT_EQ(target[18], std::byte{0});
}

class Fragments : public testing::TestWithParam<std::pair<const char*, std::int64_t>> {};

TEST_P(Fragments, BL21_OfEverySizeGiveTheSame) {
  const Layout form = layout(GetParam().first, GetParam().second);
  const Bytes packed = random_bytes(form.bytes());
  Bytes right(static_cast<std::size_t>(form.highest()));
  unpack(form, right.data(), {0, form.bytes()}, packed.data());
  std::vector<std::int64_t> sizes(257);
  std::iota(sizes.begin(), sizes.end(), 1);
  sizes.push_back(8252);
  for (const std::int64_t size : sizes) {
    Bytes target(right.size());
    Bytes again(packed.size());
    // Backwards, since fragments may come in any order.
    for (std::int64_t begin = (form.bytes() - 1) / size * size; begin >= 0; begin -= size) {
      const PackedRange range{begin, std::min(begin + size, form.bytes())};
      unpack(form, target.data(), range, packed.data() + begin);
      pack(form, right.data(), range, again.data() + begin);
    }
    ASSERT_EQ(target, right) << size;
    ASSERT_EQ(again, packed) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pack, Fragments,
    testing::Values(
        std::pair("vector(1000,3,5,double)", 1), std::pair("struct([1,1],[0,8],[int,uint64_t])", 500),
        std::pair("subarray([9,8,7],[5,6,3],[1,1,1],c,c_double_complex)", 2),
        std::pair("hindexed([1,7,2,300,1,1],[4,100,12,2000,40,70],int)", 3),
        std::pair(
            "contiguous(30,resized(0,900,indexed([3,1,2,1,2,9,1,1,4],[0,5,7,20,31,33,60,50,70],short)))",
            1)));

TEST(Pack, EveryBlockLengthInANest) {
  for (std::int64_t block = 1; block <= 130; ++block) {
    const Datatype bytes = Datatype::contiguous(block, Datatype::basic(Basic::byte_));
    const Datatype rows = Datatype::hvector(5, 1, block + 3, bytes);
    const Layout form = Layout::of(Datatype::hvector(3, 1, 900, rows), 1);
    const Bytes memory = random_bytes(form.highest());
    Bytes packed(static_cast<std::size_t>(form.bytes()));
    pack(form, memory.data(), {0, form.bytes()}, packed.data());
    Cursor cursor(form);
    for (std::int64_t at = 0; !cursor.at_end(); at = cursor.position()) {
      const LayoutSegment segment = cursor.next();
      ASSERT_EQ(std::memcmp(packed.data() + at, memory.data() + segment.offset,
                            static_cast<std::size_t>(segment.length)),
                0);
    }
    Bytes target(memory.size());
    Bytes again(packed.size());
    unpack(form, target.data(), {0, form.bytes()}, packed.data());
    pack(form, target.data(), {0, form.bytes()}, again.data());
    ASSERT_EQ(again, packed);
  }
}

TEST(Pack, AbsoluteAddressesFromANullBuffer) {
  const int values[] = {7, 8};
  const std::int64_t addresses[] = {reinterpret_cast<std::int64_t>(&values[1]),
                                    reinterpret_cast<std::int64_t>(&values[0])};
  const Layout form = Layout::of(Datatype::hindexed_block(1, addresses, Datatype::basic(Basic::int_)), 1);
  int packed[2] = {};
  pack(form, nullptr, {0, 8}, packed);
  EXPECT_EQ(packed[0], 8);
  EXPECT_EQ(packed[1], 7);
}

}  // namespace
}  // namespace lath
