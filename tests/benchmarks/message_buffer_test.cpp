#include "benchmarks/message_buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.hpp"
#include "datatypes/cursor.hpp"
#include "datatypes/type_spec.hpp"
#include "gpu/device.hpp"

namespace lath::benchmarks {
namespace {

Layout layout(const char* type, std::int64_t count = 1) {
  return Layout::of(parse_type(type), count);
}

TEST(MessageBuffer, HoldsWhatItWasFilledWith) {
  MessageBuffer buffer(layout("vector(5,3,7,int)", 2), Memory::host);
  buffer.fill(3);
  EXPECT_FALSE(buffer.check(3).has_value());
  EXPECT_TRUE(buffer.check(4).has_value());
  buffer.clear();
  EXPECT_TRUE(buffer.check(3).has_value());
}

TEST(MessageBuffer, TheDataIsInPackedOrder) {
  const Layout types[] = {layout("contiguous(3,int)"), layout("hindexed([1,1,1],[8,0,4],int)")};
  std::byte packed[2][12];
  for (int i = 0; i < 2; ++i) {
    MessageBuffer buffer(types[i], Memory::host);
    buffer.fill(9);
    pack(types[i], buffer.address(), {0, 12}, packed[i]);
  }
  EXPECT_EQ(std::memcmp(packed[0], packed[1], sizeof packed[0]), 0);
}

TEST(MessageBuffer, AChangedGapIsSeen) {
  MessageBuffer buffer(layout("vector(2,1,2,int)"), Memory::host);
  buffer.fill(1);
  static_cast<char*>(buffer.address())[5] ^= 1;
  const auto difference = buffer.check(1);
  ASSERT_TRUE(difference.has_value());
  EXPECT_THAT(*difference, testing::HasSubstr("offset 5 "));
  EXPECT_THAT(*difference, testing::HasSubstr("1 of "));
}

TEST(MessageBuffer, BytesBeforeAndAfterAreWatched) {
  MessageBuffer buffer(layout("vector(3,1,-2,int)"), Memory::host);
  for (const int offset : {-17, 4}) {
    buffer.fill(1);
    static_cast<char*>(buffer.address())[offset] ^= 1;
    EXPECT_TRUE(buffer.check(1).has_value()) << offset;
  }
}

TEST(MessageBuffer, InGpuMemory) {
  ASSERT_TRUE(gpu::availability().available) << gpu::availability().reason;
  MessageBuffer buffer(layout("vector(3,1,-2,int)"), Memory::device);
  EXPECT_EQ(gpu::memory_info(buffer.address()).kind, gpu::MemoryKind::device);
  buffer.fill(7);
  EXPECT_FALSE(buffer.check(7).has_value());
}

TEST(MessageBuffer, ASpanPastAllBoundsIsRefused) {
  EXPECT_THROW(MessageBuffer(layout("vector(2,1,9000000000,int)"), Memory::host), Error);
}

TEST(Overlaps, IsToldByTheBytes) {
  EXPECT_FALSE(overlaps(layout("vector(3,2,4,int)", 2)));
  EXPECT_TRUE(overlaps(layout("resized(0,4,contiguous(8,int))", 2)));
  EXPECT_TRUE(overlaps(layout("vector(3,1,0,int)")));
  EXPECT_FALSE(overlaps(layout("contiguous(0,int)")));
}

}  // namespace
}  // namespace lath::benchmarks
