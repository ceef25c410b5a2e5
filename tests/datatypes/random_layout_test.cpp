// Layout, cursor and pack against the typemap oracle, on random nested types.
#include <gtest/gtest.h>

#include <algorithm>

#include "datatypes/cursor.hpp"
#include "datatypes/layout.hpp"
#include "datatypes/type_spec.hpp"
#include "tests/datatypes/random_type.hpp"
#include "tests/datatypes/typemap_oracle.hpp"

namespace lath {
namespace {

constexpr int types = 20000;

using Segments = std::vector<LayoutSegment>;

/// A type, how often, and what the oracle makes of it.
struct Case {
  explicit Case(RandomType& random)
      : type(random.next()),
        count(random.below(4) == 0 ? random.between(0, 5) : 1),
        map(oracle::typemap(type)) {
    elements = oracle::elements(map, count);
    for (const LayoutSegment& element : elements) {
      bytes += element.length;
      lowest = std::min(lowest.value_or(element.offset), element.offset);
      highest = std::max(highest.value_or(element.offset), element.offset + element.length);
    }
  }

  Datatype type;
  std::int64_t count;
  oracle::Typemap map;
  Segments elements;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> lowest, highest;
};

void check_bounds(const Case& test) {
  std::int64_t size = 0;
  std::optional<std::int64_t> lowest, highest;
  for (const LayoutSegment& element : test.map.entries) {
    size += element.length;
    lowest = std::min(lowest.value_or(element.offset), element.offset);
    highest = std::max(highest.value_or(element.offset), element.offset + element.length);
  }
  ASSERT_EQ(test.type.size(), size);
  ASSERT_EQ(test.type.true_lower_bound(), lowest.value_or(0));
  ASSERT_EQ(test.type.true_extent(), highest.value_or(0) - lowest.value_or(0));
  if (size == 0) return;  // MPIs disagree on the bounds of types without data (BL-04)
  ASSERT_EQ(test.type.lower_bound(), test.map.lb());
  ASSERT_EQ(test.type.extent(), test.map.extent());
}

void check_figures(const Case& test, const Layout& layout) {
  const Segments segments = oracle::merged(test.elements);
  ASSERT_EQ(layout.bytes(), test.bytes);
  ASSERT_EQ(layout.lowest(), test.lowest.value_or(0));
  ASSERT_EQ(layout.highest(), test.highest.value_or(0));
  Segments listed(segments.size() + 1);
  const SegmentList list = list_segments(layout, {0, layout.bytes()}, listed);
  listed.resize(list.count);
  ASSERT_EQ(listed, segments);
  ASSERT_EQ(list.bytes, test.bytes);
  ASSERT_EQ(layout.segment_count(), static_cast<std::int64_t>(segments.size()));
  std::int64_t alignment = 4096;
  bool uniform = !segments.empty();
  for (const LayoutSegment& segment : segments) {
    while (segment.offset % alignment != 0 || segment.length % alignment != 0) alignment /= 2;
    uniform = uniform && segment.length == segments[0].length;
  }
  ASSERT_EQ(layout.alignment(), alignment);
  ASSERT_EQ(layout.uniform_block(), uniform ? segments[0].length : 0);
}

void check_ranges(const Case& test, const Layout& layout, RandomType& random) {
  const std::int64_t low = test.lowest.value_or(0);
  std::vector<std::byte> memory(static_cast<std::size_t>(test.highest.value_or(0) - low));
  for (std::byte& value : memory) value = static_cast<std::byte>(random.below(256));
  std::vector<std::byte> packed;
  Segments places;  // one a packed byte
  for (const LayoutSegment& element : test.elements)
    for (std::int64_t i = 0; i < element.length; ++i) {
      places.push_back({element.offset + i, 1});
      packed.push_back(memory[static_cast<std::size_t>(element.offset + i - low)]);
    }
  const std::byte* base = memory.data() - low;
  for (int round = 0; round < 4; ++round) {
    std::int64_t begin = round == 0 ? 0 : random.between(0, test.bytes);
    std::int64_t end = round == 0 ? test.bytes : random.between(begin, test.bytes);
    const auto length = static_cast<std::size_t>(end - begin);
    std::vector<std::byte> result(length + 1, std::byte{0x5a});
    pack(layout, base, {begin, end}, result.data());
    ASSERT_TRUE(std::equal(packed.begin() + begin, packed.begin() + end, result.begin()))
        << begin << " to " << end;
    ASSERT_EQ(result.back(), std::byte{0x5a});
    std::vector<std::byte> target(memory.size(), std::byte{0});
    std::vector<std::byte> expected(memory.size(), std::byte{0});
    for (std::int64_t i = begin; i < end; ++i)
      expected[static_cast<std::size_t>(places[static_cast<std::size_t>(i)].offset - low)] =
          packed[static_cast<std::size_t>(i)];
    unpack(layout, target.data() - low, {begin, end}, packed.data() + begin);
    ASSERT_EQ(target, expected) << begin << " to " << end;
    const Segments part(places.begin() + begin, places.begin() + end);
    Segments listed;
    Cursor cursor(layout, begin);
    while (cursor.position() < end) {
      listed.push_back(
          cursor.next(std::min<std::int64_t>(end - cursor.position(), round == 3 ? 5 : INT64_MAX)));
      ASSERT_LE(cursor.position(), end);
    }
    ASSERT_EQ(oracle::merged(listed), oracle::merged(part));
    if (round != 3) {
      ASSERT_EQ(listed, oracle::merged(part));
    }
  }
}

TEST(RandomLayout, AgreesWithTheTypemap) {
  RandomType random(20240601);
  for (int i = 0; i < types; ++i) {
    const Case test(random);
    const std::string text = to_text(test.type);
    SCOPED_TRACE("type " + std::to_string(i) + ", count " + std::to_string(test.count) + ": " + text);
    check_bounds(test);
    const Layout layout = Layout::of(test.type, test.count);
    SCOPED_TRACE(layout.text());
    check_figures(test, layout);
    check_ranges(test, layout, random);
    const Datatype again = parse_type(text);
    ASSERT_EQ(to_text(again), text);
    ASSERT_EQ(again.extent(), test.type.extent());
    ASSERT_EQ(Layout::of(again, test.count).hash(), layout.hash());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace lath
