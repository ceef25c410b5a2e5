#include "providers/unmapped_ranges.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace lath::providers {
namespace {

std::vector<std::uintptr_t> begins(UnmappedRanges& ranges, bool& complete) {
  std::vector<std::uintptr_t> out;
  complete = ranges.take_all([&](AddressRange range) { out.push_back(range.begin); });
  return out;
}

TEST(UnmappedRanges, AreTakenOnceAndInOrder) {
  UnmappedRanges ranges;
  bool complete = false;
  EXPECT_TRUE(ranges.empty());
  ranges.add({10, 20});
  ranges.add({5, 6});
  EXPECT_FALSE(ranges.empty());
  EXPECT_EQ(begins(ranges, complete), (std::vector<std::uintptr_t>{10, 5}));
  EXPECT_TRUE(complete);
  EXPECT_TRUE(ranges.empty());
  EXPECT_TRUE(begins(ranges, complete).empty());
  EXPECT_TRUE(complete);
}

TEST(UnmappedRanges, AFullRoundIsKeptAndOneMoreIsToldAsLost) {
  UnmappedRanges ranges;
  bool complete = false;
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < UnmappedRanges::capacity; ++i) ranges.add({i, i + 1});
    EXPECT_EQ(begins(ranges, complete).size(), UnmappedRanges::capacity);
    EXPECT_TRUE(complete);
    for (std::size_t i = 0; i <= UnmappedRanges::capacity; ++i) ranges.add({i, i + 1});
    static_cast<void>(begins(ranges, complete));
    EXPECT_FALSE(complete);
    EXPECT_TRUE(ranges.empty());
  }
}

// Every range is either handed out whole and once, or its loss is told.
void add_and_take(std::size_t most_waiting) {
  constexpr std::uintptr_t threads = 4, each = 30000;
  const auto ranges = std::make_unique<UnmappedRanges>();
  std::vector<char> seen(threads * each, 0);
  std::atomic<std::size_t> added{0}, read{0};
  std::size_t taken = 0;
  bool lost = false;
  const auto take = [&] {
    const std::size_t waiting = added;
    lost |= !ranges->take_all([&](AddressRange range) {
      ASSERT_EQ(range.end, range.begin * 3 + 1) << "a range torn apart";
      ASSERT_EQ(seen[range.begin]++, 0) << "handed out twice";
      ++taken;
    });
    read = waiting;
  };
  std::atomic<std::uintptr_t> running{threads};
  std::vector<std::thread> adding;
  for (std::uintptr_t thread = 0; thread < threads; ++thread)
    adding.emplace_back([&, thread] {
      for (std::uintptr_t i = thread * each; i < (thread + 1) * each; ++i) {
        while (added - read > most_waiting) std::this_thread::yield();
        ranges->add({i, i * 3 + 1});
        ++added;
      }
      --running;
    });
  while (running > 0) take();
  for (std::thread& thread : adding) thread.join();
  take();
  EXPECT_TRUE(ranges->empty());
  EXPECT_TRUE(lost || taken == threads * each) << taken;
}

TEST(UnmappedRanges, ManyThreadsAddWhileTheOwnerTakes) {
  add_and_take(UnmappedRanges::capacity / 2);
}

TEST(UnmappedRanges, ManyThreadsAddFasterThanTheOwnerTakes) {
  add_and_take(SIZE_MAX / 2);
}

}  // namespace
}  // namespace lath::providers
