#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "providers/registration_cache.hpp"
#include "tests/providers/stub_provider.hpp"

/// Host registrations that are kept after use, with unmapping told by the test.
namespace lath::providers {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t pages = 64;

class KeptRegistrations : public testing::Test {
 protected:
  KeptRegistrations() { open({}); }
  ~KeptRegistrations() override { EXPECT_TRUE(network.violations().empty()); }

  void open(RegistrationCache::Bounds bounds) {
    cache.reset();
    provider = network.attach();
    cache = std::make_unique<RegistrationCache>(*provider, bounds, &unmapped);
  }
  RegistrationCache::Pin pin(std::size_t offset, std::size_t length, bool writable = true) {
    return cache->pin(at(offset), length, {}, writable, why);
  }
  [[nodiscard]] std::byte* at(std::size_t offset) { return memory.get() + offset; }
  void unmap(std::size_t offset, std::size_t length) {
    const auto begin = reinterpret_cast<std::uintptr_t>(at(offset));
    unmapped.add({begin, begin + length});
  }
  [[nodiscard]] std::uint64_t registrations() const { return provider->counters().registrations; }

  struct Aligned {
    void operator()(std::byte* block) const { std::free(block); }
  };
  std::unique_ptr<std::byte, Aligned> memory{static_cast<std::byte*>(std::aligned_alloc(page, pages* page))};
  UnmappedRanges unmapped;
  StubNetwork network;
  std::unique_ptr<Provider> provider;
  std::unique_ptr<RegistrationCache> cache;
  std::unique_ptr<Error> why;
};

TEST_F(KeptRegistrations, AHaloLoopRegistersItsFacesInTheFirstStepAlone) {
  // Four faces of one array, each a send and a receive.
  const std::size_t begins[] = {0, 100, 30 * page, 50 * page - 8};
  for (int step = 0; step < 1000; ++step)
    for (const std::size_t begin : begins)
      for (const bool receives : {false, true}) ASSERT_TRUE(pin(begin, 13 * page + 5, receives));
  EXPECT_LE(registrations(), std::size(begins));
  EXPECT_EQ(network.registrations(), cache->entries());
}

TEST_F(KeptRegistrations, OverlappingPiecesBecomeOne) {
  for (std::size_t i = 0; i + 2 <= pages; ++i) ASSERT_TRUE(pin(i * page, 2 * page));
  EXPECT_EQ(cache->entries(), 1U);
  EXPECT_EQ(cache->bytes(), pages * page);
  const std::uint64_t before = registrations();
  ASSERT_TRUE(pin(0, pages * page));
  EXPECT_EQ(registrations(), before);
}

TEST_F(KeptRegistrations, BL36_UnmappedMemoryIsRegisteredAgain) {
  for (std::uint64_t round = 1; round <= 100; ++round) {
    ASSERT_TRUE(pin(page, 3 * page));
    EXPECT_EQ(registrations(), round);
    EXPECT_EQ(network.registrations(), 1U) << "the stale registration is still there";
    unmap(2 * page, 1);
  }
}

TEST_F(KeptRegistrations, WhatIsInUseGoesWithItsLastPin) {
  auto first = pin(0, page);
  const Registration* old = first.registration();
  unmap(0, page);
  auto second = pin(0, page);
  EXPECT_NE(second.registration(), old);
  EXPECT_EQ(network.registrations(), 2U);
  first.release();
  EXPECT_EQ(network.registrations(), 1U);
  second.release();
  EXPECT_EQ(network.registrations(), 1U);
}

TEST_F(KeptRegistrations, LostRangesForgetEverything) {
  ASSERT_TRUE(pin(0, page));
  ASSERT_TRUE(pin(10 * page, page));
  for (std::size_t i = 0; i <= UnmappedRanges::capacity; ++i) unmapped.add({1, 2});
  ASSERT_TRUE(pin(20 * page, page));
  EXPECT_EQ(network.registrations(), 1U);
}

TEST_F(KeptRegistrations, BoundsHold) {
  open({.entries = 4, .bytes = 6 * page});
  for (std::size_t i = 0; i < pages; i += 2) {
    ASSERT_TRUE(pin(i * page, page));
    EXPECT_LE(cache->entries(), 4U);
  }
  for (std::size_t i = 0; i + 3 < pages; i += 4) {
    ASSERT_TRUE(pin(i * page, 3 * page));
    EXPECT_LE(cache->bytes(), 6 * page);
  }
}

// Against a model: for each page the number of times that it was unmapped. A pin that is handed out must have
// been registered after the last of them.
TEST_F(KeptRegistrations, RandomUseNeverMeetsAStaleRegistration) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  std::vector<std::uint64_t> age(pages, 0);
  std::map<const Registration*, std::uint64_t> made;
  std::vector<RegistrationCache::Pin> held;
  std::uint64_t now = 1;
  for (int step = 0; step < 20000; ++step, ++now) {
    const std::size_t first = below(pages), count = 1 + below(std::min<std::size_t>(pages - first, 9));
    if (below(4) == 0) {
      unmap(first * page, count * page);
      for (std::size_t i = first; i < first + count; ++i) age[i] = now;
      continue;
    }
    const std::uint64_t before = registrations();
    auto pinned = pin(first * page + below(page), (count - 1) * page + 1, below(2) == 0);
    ASSERT_TRUE(pinned);
    if (registrations() > before) made[pinned.registration()] = now;
    const std::uint64_t born = made.at(pinned.registration());
    for (std::size_t i = first; i < first + count - 1; ++i) ASSERT_GT(born, age[i]) << step;
    if (below(3) == 0) held.push_back(std::move(pinned));
    if (held.size() > 20) held.erase(held.begin() + static_cast<std::ptrdiff_t>(below(held.size())));
  }
  held.clear();
  unmap(0, pages * page);
  ASSERT_TRUE(pin(0, 1));
  EXPECT_EQ(network.registrations(), 1U);
}

}  // namespace
}  // namespace lath::providers
