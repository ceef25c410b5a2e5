#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "providers/registration_cache.hpp"
#include "tests/providers/page_provider.hpp"

/// Registrations of host memory that are kept after use.
namespace lath::providers {
namespace {

using Pin = RegistrationCache::Pin;
constexpr std::uintptr_t page = PageProvider::page_bytes;

const PageProvider::Registered& made_of(const Pin& pin) {
  return dynamic_cast<const PageProvider::Registered&>(*pin.registration());
}

class HostRegistrations : public testing::Test {
 protected:
  HostRegistrations() {
    for (std::uintptr_t i = 0; i < PageProvider::pages; ++i) provider.space[i].content = ++last_content;
  }
  void open(const RegistrationCache::Bounds& bounds) {
    cache = std::make_unique<RegistrationCache>(provider, bounds, &unmapped);
  }
  Pin pin(std::uintptr_t offset, std::uintptr_t length, bool writable = true) {
    return cache->pin(PageProvider::address(offset), length, {}, writable, why);
  }
  void tell(std::uintptr_t first, std::uintptr_t pages) {
    const std::uintptr_t begin = PageProvider::base + first * page;
    unmapped.add({begin, begin + pages * page});
  }
  void map_anew(std::uintptr_t first, std::uintptr_t pages) {
    for (std::uintptr_t i = first; i < first + pages; ++i) provider.space[i] = {++last_content, true};
    tell(first, pages);
  }

  std::uint64_t last_content = 0;
  PageProvider provider;
  UnmappedRanges unmapped;
  std::unique_ptr<RegistrationCache> cache =
      std::make_unique<RegistrationCache>(provider, RegistrationCache::Bounds{}, &unmapped);
  std::unique_ptr<Error> why;
};

TEST_F(HostRegistrations, AHaloLoopRegistersEachAllocationOnce) {
  constexpr std::uintptr_t arrays = 4, array = 8 * page, first = 16;  // as malloc() places them
  for (int step = 0; step < 1000; ++step) {
    std::vector<Pin> pins;
    for (std::uintptr_t i = 0; i < arrays; ++i) {
      const std::uintptr_t at = i * 16 * page + first;
      pins.push_back(pin(at, array, false));
      pins.push_back(pin(at + 512, array - 1024, true));
      pins.push_back(pin(at + array - 256, 256, true));
      for (std::size_t k = pins.size() - 3; k < pins.size(); ++k) ASSERT_TRUE(pins[k]);
    }
  }
  EXPECT_EQ(provider.made, arrays);
  EXPECT_EQ(cache->entries(), arrays);
}

TEST_F(HostRegistrations, WholePagesAreRegistered) {
  const Pin first = pin(100, 50);
  EXPECT_EQ(made_of(first).range.begin, PageProvider::base);
  EXPECT_EQ(made_of(first).range.end, PageProvider::base + page);
  EXPECT_TRUE(pin(3000, 1000));
  EXPECT_EQ(provider.made, 1U);
}

TEST_F(HostRegistrations, WhatSharesPagesIsRegisteredTogetherAndNeighboursApart) {
  ASSERT_TRUE(pin(0, 2 * page));
  ASSERT_TRUE(pin(page, 2 * page));
  EXPECT_EQ(cache->entries(), 1U);
  EXPECT_EQ(cache->bytes(), 3 * page);
  ASSERT_TRUE(pin(3 * page, page));
  EXPECT_EQ(cache->entries(), 2U);
  map_anew(3, 1);
  cache->drop_unmapped();
  EXPECT_EQ(cache->entries(), 1U);
}

TEST_F(HostRegistrations, BL36_MemoryMappedAgainIsRegisteredAgain) {
  for (std::uint64_t round = 1; round <= 100; ++round) {
    const Pin pinned = pin(page, 4 * page);
    ASSERT_TRUE(pinned);
    EXPECT_EQ(made_of(pinned).seen[2].content, provider.space[2].content);
    EXPECT_EQ(provider.made, round);
    map_anew(round % 4 + 1, 1);
  }
}

TEST_F(HostRegistrations, BL37_StaleInUseIsNotHandedOutAgainAndGoesWhenGivenBack) {
  Pin old = pin(0, page);
  map_anew(0, 1);
  const Pin fresh = pin(0, page);
  EXPECT_NE(old.registration(), fresh.registration());
  EXPECT_EQ(provider.alive.size(), 2U);
  old.release();
  EXPECT_EQ(provider.alive.size(), 1U);
  EXPECT_EQ(cache->bytes(), page);
  EXPECT_TRUE(pin(0, page));
  EXPECT_EQ(provider.made, 2U);
}

TEST_F(HostRegistrations, BL37_UnmappedInUseGoesWhenGivenBack) {
  Pin pinned = pin(0, page);
  tell(0, 1);
  pinned.release();
  EXPECT_EQ(provider.alive.size(), 0U);
}

TEST_F(HostRegistrations, AllIsStaleAfterNewsWereLost) {
  ASSERT_TRUE(pin(0, page));
  ASSERT_TRUE(pin(10 * page, page));
  for (std::size_t i = 0; i <= UnmappedRanges::capacity; ++i) tell(PageProvider::pages + 1, 1);
  cache->drop_unmapped();
  EXPECT_EQ(provider.alive.size(), 0U);
}

TEST_F(HostRegistrations, DeviceMemoryIsKnownByItsIdAlone) {
  gpu::MemoryInfo info;
  info.kind = gpu::MemoryKind::device;
  info.base = PageProvider::base;
  info.bytes = 4 * page;
  info.buffer_id = 7;
  ASSERT_TRUE(cache->pin(PageProvider::address(0), 64, info, true, why));
  tell(0, 4);
  ASSERT_TRUE(cache->pin(PageProvider::address(0), 64, info, true, why));
  EXPECT_EQ(provider.made, 1U);
  // The same place as host memory.
  ASSERT_TRUE(pin(0, 64));
  EXPECT_EQ(provider.made, 2U);
  EXPECT_EQ(cache->entries(), 1U);
}

TEST_F(HostRegistrations, BL45_ReadOnlyMemoryIsSentFromAndNeverWritten) {
  provider.space[1].writable = false;
  ASSERT_TRUE(pin(page, page, false));
  EXPECT_FALSE(pin(page, page, true));
  EXPECT_EQ(why->lath_code(), Code::bad_address);
  EXPECT_EQ(cache->entries(), 1U) << "what is unused went for memory that cannot be had";
  ASSERT_TRUE(pin(page, page, false));
  EXPECT_EQ(provider.made, 1U);
}

TEST_F(HostRegistrations, BL45_ReadOnlyBesideWritableIsRegisteredApart) {
  provider.space[2].writable = false;
  ASSERT_TRUE(pin(0, 2 * page, true));
  const Pin both = pin(page, 2 * page, false);
  ASSERT_TRUE(both);
  EXPECT_FALSE(made_of(both).writable);
  const Pin writing = pin(page, page, true);
  EXPECT_TRUE(made_of(writing).writable);
  EXPECT_EQ(provider.made, 2U);
}

TEST_F(HostRegistrations, SendsAndReceivesShareOne) {
  ASSERT_TRUE(pin(0, page, false));
  ASSERT_TRUE(pin(0, page, true));
  EXPECT_EQ(provider.made, 1U);
}

TEST_F(HostRegistrations, MemoryThatMayBeWrittenLaterIsRegisteredAnew) {
  provider.space[0].writable = false;
  ASSERT_TRUE(pin(0, page, false));
  provider.space[0].writable = true;  // mprotect(): the pages are the same
  const Pin writing = pin(0, page, true);
  EXPECT_TRUE(made_of(writing).writable);
  ASSERT_TRUE(pin(0, page, false));
  EXPECT_EQ(provider.made, 2U);
  EXPECT_EQ(cache->entries(), 1U);
}

// Of a struct whose parts lie far apart the whole span is asked for first.
TEST_F(HostRegistrations, MemoryThatIsNotThereDropsNothing) {
  provider.space[5].content = 0;
  ASSERT_TRUE(pin(0, page));
  for (const bool writable : {false, true}) EXPECT_FALSE(pin(4 * page, 3 * page, writable));
  EXPECT_EQ(why->lath_code(), Code::bad_address);
  EXPECT_EQ(cache->entries(), 1U);
}

TEST_F(HostRegistrations, ExhaustionDropsWhatIsUnused) {
  provider.most_alive = 2;
  for (std::uintptr_t i = 0; i < 6; ++i) ASSERT_TRUE(pin(2 * i * page, page)) << why->what();
  EXPECT_LE(cache->entries(), 2U);
}

TEST_F(HostRegistrations, GrowingStopsAtTheBound) {
  open({.entries = 8, .bytes = 4 * page});
  for (std::uintptr_t i = 0; i < 20; ++i) ASSERT_TRUE(pin(i * page, 2 * page));
  for (const auto* registered : provider.alive)
    EXPECT_LE(registered->range.end - registered->range.begin, 4 * page);
  EXPECT_LE(cache->bytes(), 4 * page);
}

/// Against a model that knows what each page holds: whatever is handed out must be of what is there now.
class RandomHostRegistrations : public HostRegistrations, public testing::WithParamInterface<unsigned> {
 protected:
  std::uintptr_t number(std::uintptr_t least, std::uintptr_t most) {
    return std::uniform_int_distribution<std::uintptr_t>(least, most)(random);
  }
  void change_pages() {
    const std::uintptr_t first = number(0, PageProvider::pages - 1);
    const std::uintptr_t count = number(1, std::min<std::uintptr_t>(8, PageProvider::pages - first));
    const std::uintptr_t how = number(0, 3);
    for (std::uintptr_t i = first; i < first + count; ++i)
      provider.space[i] = {how == 0 ? 0 : ++last_content, how != 1};
    tell(first, count);
    if (number(0, 40) == 0)
      for (std::size_t i = 0; i < UnmappedRanges::capacity; ++i) tell(PageProvider::pages + 1, 1);
  }
  [[nodiscard]] bool can_be_had(AddressRange range, bool writable) const {
    for (auto i = PageProvider::first_page(range); i <= PageProvider::last_page(range); ++i)
      if (provider.space[i].content == 0 || (writable && !provider.space[i].writable)) return false;
    return true;
  }
  void pin_somewhere() {
    const std::uintptr_t offset = number(0, PageProvider::pages * page - 1);
    const std::uintptr_t length = number(1, std::min(12 * page, PageProvider::pages * page - offset));
    const bool writable = number(0, 1) == 1;
    const AddressRange range{PageProvider::base + offset, PageProvider::base + offset + length};
    Pin pinned = pin(offset, length, writable);
    ASSERT_EQ(static_cast<bool>(pinned), can_be_had(range, writable));
    if (!pinned) return;
    check(made_of(pinned), range, writable);
    const std::uint64_t made = provider.made;
    ASSERT_TRUE(pin(offset, length, writable));
    ASSERT_EQ(provider.made, made) << "registered again though nothing has changed";
    if (number(0, 2) == 0) pins.push_back(std::move(pinned));
  }
  void check(const PageProvider::Registered& registered, AddressRange range, bool writable) {
    ASSERT_LE(registered.range.begin, range.begin);
    ASSERT_GE(registered.range.end, range.end);
    ASSERT_TRUE(registered.writable || !writable);
    for (auto i = PageProvider::first_page(range); i <= PageProvider::last_page(range); ++i)
      ASSERT_EQ(registered.seen[i].content, provider.space[i].content) << "stale page " << i;
  }
  void check_totals(const RegistrationCache::Bounds& bounds) {
    std::size_t bytes = 0;
    for (const auto* registered : provider.alive) bytes += registered->range.end - registered->range.begin;
    ASSERT_EQ(cache->bytes(), bytes);
    ASSERT_EQ(cache->entries(), provider.alive.size());
    if (pins.empty()) {
      ASSERT_LE(cache->entries(), bounds.entries);
      ASSERT_LE(bytes, bounds.bytes);
    }
  }

  std::mt19937_64 random{GetParam()};
  std::vector<Pin> pins;
};

TEST_P(RandomHostRegistrations, AreAlwaysOfWhatIsThere) {
  const RegistrationCache::Bounds bounds{.entries = number(1, 12), .bytes = number(1, 40) * page};
  open(bounds);
  for (int step = 0; step < 4000 && !HasFatalFailure(); ++step) {
    const std::uintptr_t what = number(0, 9);
    if (what < 6) pin_somewhere();
    if (what == 6) change_pages();
    if (what > 6 && !pins.empty()) pins.erase(pins.begin() + static_cast<long>(number(0, pins.size() - 1)));
    if (number(0, 200) == 0) pins.clear();
    check_totals(bounds);
  }
  pins.clear();
  check_totals(bounds);
  cache.reset();
  EXPECT_TRUE(provider.alive.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHostRegistrations, testing::Range(1U, 41U));

}  // namespace
}  // namespace lath::providers
