#include "providers/registration_cache.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/providers/stub_provider.hpp"

namespace lath::providers {
namespace {

gpu::MemoryInfo allocation(const void* base, std::size_t bytes, std::uint64_t buffer_id) {
  gpu::MemoryInfo info;
  info.kind = gpu::MemoryKind::device;
  info.device = 0;
  info.base = reinterpret_cast<std::uintptr_t>(base);
  info.bytes = bytes;
  info.buffer_id = buffer_id;
  return info;
}

class RegistrationCaches : public testing::Test {
 protected:
  void open(StubOptions options, RegistrationCache::Bounds bounds = {}) {
    options.limits.device_memory = true;
    provider = network.attach(std::move(options));
    cache = std::make_unique<RegistrationCache>(*provider, bounds);
  }
  RegistrationCache::Pin pin(std::size_t offset, std::size_t length, const gpu::MemoryInfo& info) {
    return cache->pin(memory.data() + offset, length, info, true, why);
  }

  StubNetwork network;
  std::unique_ptr<Provider> provider;
  std::unique_ptr<RegistrationCache> cache;
  std::vector<std::byte> memory = std::vector<std::byte>(64 << 10);
  std::unique_ptr<Error> why;
};

TEST_F(RegistrationCaches, OneRegistrationServesAWholeDeviceAllocation) {
  open({});
  const auto info = allocation(memory.data(), memory.size(), 1);
  for (std::size_t offset = 0; offset < 4096; offset += 64) ASSERT_TRUE(pin(offset, 64, info));
  EXPECT_EQ(provider->counters().registrations, 1U);
  EXPECT_EQ(cache->entries(), 1U);
  EXPECT_EQ(cache->hits(), 63U);
}

TEST_F(RegistrationCaches, BL36_AnAddressUsedAgainIsRegisteredAgain) {
  open({});
  for (std::uint64_t id = 1; id <= 100; ++id) {
    const auto pinned = pin(0, 4096, allocation(memory.data(), 8192, id));
    ASSERT_TRUE(pinned);
    EXPECT_EQ(provider->counters().registrations, id);
    EXPECT_EQ(network.registrations(), 1U) << "the stale registration is still there";
  }
}

TEST_F(RegistrationCaches, BL36_HostRegistrationsAreNotKeptAfterUse) {
  open({});
  {
    const auto first = pin(0, 4096, {});
    const auto second = pin(1024, 64, {});
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(first.registration(), second.registration());
  }
  EXPECT_EQ(network.registrations(), 0U);
}

TEST_F(RegistrationCaches, BL37_WhatIsInUseIsNeverEvicted) {
  open({}, {.entries = 16, .bytes = 1 << 30});
  std::vector<RegistrationCache::Pin> pins;
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t slice = 0; slice < 4; ++slice) {
      const auto info = allocation(memory.data() + i * 2048, 2048, i + 1);
      pins.push_back(pin(i * 2048 + slice * 512, 512, info));
      ASSERT_TRUE(pins.back());
    }
  EXPECT_EQ(provider->counters().registrations, 20U);
  EXPECT_EQ(network.registrations(), 20U);
  pins.clear();
  EXPECT_EQ(cache->entries(), 16U);
  EXPECT_EQ(network.registrations(), 16U);
  cache->clear();
  EXPECT_EQ(network.registrations(), 0U);
  EXPECT_EQ(cache->bytes(), 0U);
}

TEST_F(RegistrationCaches, LeastRecentlyUsedGoesFirst) {
  open({}, {.entries = 2, .bytes = 1 << 30});
  const auto info = [&](std::size_t i) { return allocation(memory.data() + i * 4096, 4096, i + 1); };
  for (const std::size_t i : {0U, 1U, 0U, 2U}) ASSERT_TRUE(pin(i * 4096, 4096, info(i)));
  EXPECT_EQ(provider->counters().registrations, 3U);
  ASSERT_TRUE(pin(0, 4096, info(0)));
  EXPECT_EQ(provider->counters().registrations, 3U);
  ASSERT_TRUE(pin(4096, 4096, info(1)));
  EXPECT_EQ(provider->counters().registrations, 4U);
}

TEST_F(RegistrationCaches, BytesAreBounded) {
  open({}, {.entries = 100, .bytes = 10000});
  for (std::size_t i = 0; i < 8; ++i)
    ASSERT_TRUE(pin(i * 4096, 4096, allocation(memory.data() + i * 4096, 4096, i + 1)));
  EXPECT_LE(cache->bytes(), 10000U);
}

TEST_F(RegistrationCaches, BL41_ARefusedAllocationFallsBackToThePart) {
  StubOptions options;
  options.failing_registrations = {1};
  open(options);
  const auto pinned = pin(256, 128, allocation(memory.data(), memory.size(), 1));
  EXPECT_TRUE(pinned);
  EXPECT_EQ(cache->bytes(), 128U);
  EXPECT_EQ(why, nullptr);
}

TEST_F(RegistrationCaches, BL41_RefusalDropsWhatIsUnusedAndTellsTheReason) {
  StubOptions options;
  options.refuse_registrations = true;
  open(options);
  EXPECT_FALSE(pin(0, 128, allocation(memory.data(), memory.size(), 1)));
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->lath_code(), Code::no_memory);
  EXPECT_EQ(network.registrations(), 0U);
}

TEST_F(RegistrationCaches, BL45_AReadOnlyRegistrationDoesNotServeWriting) {
  open({});
  const auto info = allocation(nullptr, 0, 1);
  const auto reading = cache->pin(memory.data(), 64, info, false, why);
  const auto writing = cache->pin(memory.data(), 64, info, true, why);
  ASSERT_TRUE(reading);
  ASSERT_TRUE(writing);
  EXPECT_NE(reading.registration(), writing.registration());
}

TEST_F(RegistrationCaches, PinsMove) {
  open({});
  const auto info = allocation(memory.data(), 4096, 1);
  RegistrationCache::Pin first = pin(0, 64, info);
  RegistrationCache::Pin second = std::move(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): what a moved-from pin holds is the point
  first = std::move(second);
  EXPECT_TRUE(first);
  cache->clear();
  EXPECT_EQ(network.registrations(), 1U);
}

}  // namespace
}  // namespace lath::providers
