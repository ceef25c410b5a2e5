#include "gpu/pack_word.hpp"

#include <gtest/gtest.h>

namespace lath::gpu {
namespace {

TEST(PackWord, GeometryBoundsTheWord) {
  EXPECT_EQ(split_words(0, 0, 0, 1024).word, 16U);
  EXPECT_EQ(split_words(48, 0, 0, 1024).word, 16U);
  EXPECT_EQ(split_words(8, 0, 0, 1024).word, 8U);
  EXPECT_EQ(split_words(16 | 4, 0, 0, 1024).word, 4U);
  EXPECT_EQ(split_words(6, 0, 0, 1024).word, 2U);
  EXPECT_EQ(split_words(7, 0, 0, 1024).word, 1U);
  EXPECT_EQ(split_words(static_cast<std::uint64_t>(-24), 0, 0, 1024).word, 8U) << "a negative stride";
}

TEST(PackWord, BL02_AnOddStrideForbidsWideWords) {
  const std::uint64_t base = 4096;
  const std::uint64_t block = 4;
  const std::uint64_t stride = 6;
  EXPECT_EQ(split_words(base | block | stride, 0, 0, 12).word, 2U);
}

TEST(PackWord, BL20_AnOddPackedAddressForbidsWideWords) {
  EXPECT_EQ(split_words(16, 10, 0, 64).word, 2U);
  EXPECT_EQ(split_words(16, 1, 0, 64).word, 1U);
  EXPECT_EQ(split_words(16, 8, 0, 64).word, 8U);
}

TEST(PackWord, RangesSplitIntoHeadWordsAndTail) {
  const auto whole = split_words(16, 0, 32, 96);
  EXPECT_EQ(whole.head, 0U);
  EXPECT_EQ(whole.words, 4U);
  EXPECT_EQ(whole.tail, 0U);
  // The packed address of byte 5 is 5 past a boundary, as it is for a slice of one buffer.
  const auto odd = split_words(16, 4096 + 5, 5, 100);
  EXPECT_EQ(odd.word, 16U);
  EXPECT_EQ(odd.head, 11U);
  EXPECT_EQ(odd.words, 5U);
  EXPECT_EQ(odd.tail, 4U);
  EXPECT_EQ(odd.items(), 20U);
}

TEST(PackWord, ShortRangesGoByBytes) {
  const auto split = split_words(16, 4096 + 1, 1, 3);
  EXPECT_EQ(split.word, 1U);
  EXPECT_EQ(split.words, 2U);
  EXPECT_EQ(split_words(16, 4096, 0, 0).items(), 0U);
}

TEST(PackWord, EveryByteIsCoveredOnceForAllSmallRanges) {
  for (const std::uint64_t geometry : {16U, 8U, 4U, 2U, 1U})
    for (std::uintptr_t packed = 64; packed < 80; ++packed)
      for (std::uint64_t begin = 0; begin < 34; ++begin)
        for (std::uint64_t end = begin; end < 70; ++end) {
          const auto split = split_words(geometry, packed, begin, end);
          ASSERT_EQ(split.head + split.words * split.word + split.tail, end - begin);
          ASSERT_EQ((begin + split.head) % split.word, 0U);
          ASSERT_EQ((packed + split.head) % split.word, 0U);
          ASSERT_EQ(geometry % split.word, 0U);
        }
}

}  // namespace
}  // namespace lath::gpu
