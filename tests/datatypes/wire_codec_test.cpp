#include "datatypes/wire_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "datatypes/cursor.hpp"
#include "datatypes/type_spec.hpp"
#include "tests/datatypes/random_type.hpp"

namespace lath {
namespace {

using Wire = std::vector<std::byte>;

/// A decoded layout must be sound: what it says of itself holds for a walk over (the beginning of) it.
void check_walk(const Layout& layout) {
  Cursor cursor(layout);
  std::int64_t segments = 0;
  std::int64_t end = INT64_MIN;
  for (; !cursor.at_end() && segments < 2000; ++segments) {
    const LayoutSegment segment = cursor.next();
    ASSERT_GT(segment.length, 0);
    ASSERT_NE(segment.offset, end);
    ASSERT_GE(segment.offset, layout.lowest());
    end = segment.offset + segment.length;
    ASSERT_LE(end, layout.highest());
    ASSERT_EQ(segment.offset % layout.alignment(), 0);
  }
  if (cursor.at_end()) {
    ASSERT_EQ(segments, layout.segment_count());
  }
  if (layout.bytes() > 0) {
    Cursor last(layout, layout.bytes() - 1);
    ASSERT_EQ(last.next().length, 1);
    ASSERT_TRUE(last.at_end());
  }
}

/// Decodes; true if it was taken.
bool decodes(const Wire& wire) {
  try {
    const Layout layout = decode_layout(wire);
    check_walk(layout);
    EXPECT_FALSE(layout.text().empty());
    EXPECT_EQ(decode_layout(encode(layout)).hash(), layout.hash());
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.lath_code(), Code::corrupt) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr("layout on the wire: "));
    return false;
  }
}

TEST(WireCodec, RandomLayoutsComeBack) {
  RandomType random(31);
  for (int i = 0; i < 20000; ++i) {
    const Layout layout = Layout::of(random.next(), random.between(0, 4));
    const Wire wire = encode(layout);
    const Layout again = decode_layout(wire);
    ASSERT_EQ(again.hash(), layout.hash()) << layout.text();
    ASSERT_EQ(again.kind(), layout.kind());
    ASSERT_EQ(again.bytes(), layout.bytes());
    ASSERT_EQ(again.segment_count(), layout.segment_count());
    ASSERT_EQ(again.lowest(), layout.lowest());
    ASSERT_EQ(again.highest(), layout.highest());
    ASSERT_EQ(again.alignment(), layout.alignment());
    ASSERT_EQ(encode(again), wire);
  }
}

TEST(WireCodec, RegularLayoutsTakeFewBytes) {
  EXPECT_LT(encode(Layout::of(parse_type("vector(1000000000,2,200,double)"), 1)).size(), 24U);
  EXPECT_LT(encode(Layout::of(parse_type("vector(3,2,4,int)"), 1000000000)).size(), 80U);
  EXPECT_LT(encode(Layout::of(parse_type("subarray([102,102,102],[100,100,1],[1,1,1],c,double)"), 1)).size(),
            24U);
}

TEST(WireCodec, EveryTruncationIsRefused) {
  RandomType random(32);
  for (int i = 0; i < 400; ++i) {
    const Wire wire = encode(Layout::of(random.next(), random.between(1, 4)));
    for (std::size_t length = 0; length < wire.size(); ++length) {
      ASSERT_FALSE(decodes(Wire(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(length))));
    }
    Wire longer = wire;
    longer.push_back(std::byte{0});
    ASSERT_FALSE(decodes(longer));
  }
}

TEST(WireCodec, EveryCorruptByteIsRefusedOrSound) {
  RandomType random(33);
  for (int i = 0; i < 60; ++i) {
    const Layout layout = Layout::of(random.next(), random.between(1, 4));
    const Wire wire = encode(layout);
    if (wire.size() > 200) continue;
    for (std::size_t at = 0; at < wire.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        Wire corrupt = wire;
        corrupt[at] = static_cast<std::byte>(value);
        decodes(corrupt);
        ASSERT_FALSE(HasFailure()) << layout.text() << " byte " << at << " value " << value;
      }
    }
  }
}

TEST(WireCodec, RandomBytesAreRefusedOrSound) {
  RandomType random(34);
  for (int i = 0; i < 200000; ++i) {
    Wire wire(static_cast<std::size_t>(random.between(0, 40)));
    for (std::byte& value : wire)
      value = static_cast<std::byte>(random.below(random.below(2) == 0 ? 8 : 256));
    if (!wire.empty()) wire[0] = std::byte{1};
    decodes(wire);
    ASSERT_FALSE(HasFailure()) << i;
  }
}

TEST(WireCodec, DeepNestingIsRefused) {
  // A table, and many loops of two around it, with steps that neither fold nor join.
  Wire wire;
  const auto put = [&wire](std::initializer_list<int> values) {
    for (const int value : values) wire.push_back(static_cast<std::byte>(value));
  };
  put({1, 0xa1, 0x8d, 0x06, 0});  // version, 100001 forms, offset 0
  put({1, 3, 0, 1, 2, 2, 4, 1});  // the table
  for (int i = 0; i < 100000; ++i) put({2, 2, 0, 1});
  EXPECT_FALSE(decodes(wire));
}

}  // namespace
}  // namespace lath
