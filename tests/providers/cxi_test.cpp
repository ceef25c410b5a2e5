#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "gpu/device.hpp"
#include "gpu/stream.hpp"
#include "tests/cxi_stand_in/counts.hpp"
#include "tests/cxi_stand_in/rules.hpp"
#include "tests/providers/provider_pair.hpp"

/// The provider over cxi, by cxi's own rules: what it asks the stand-in for, which refuses and counts.
namespace lath::providers {
namespace {

using cxi_stand_in::counts;

class Cxi : public ProviderPair {
 protected:
  std::unique_ptr<Registration> exposed(Provider& provider, void* address, std::size_t length) {
    std::unique_ptr<Error> why;
    auto registration = provider.register_memory(address, length, MemoryKind::host, true, true, why);
    EXPECT_NE(registration, nullptr) << why->what();
    return registration;
  }
  /// Whether the application chooses the keys, which the stand-in's environment says.
  bool client_keys() const {
    const char* mode = std::getenv("CXI_STAND_IN_MR");
    return mode != nullptr && std::strstr(mode, "client_key") != nullptr;
  }
  std::array<std::byte, 4096> memory{};
};

TEST_P(Cxi, LimitsAreThoseOfTheDevice) {
  const Limits& limits = a->limits();
  EXPECT_EQ(limits.send_list, 1U);
  EXPECT_EQ(limits.receive_list, 1U);
  EXPECT_EQ(limits.rma_local_list, 1U);
  EXPECT_EQ(limits.rma_remote_list, 1U);
  EXPECT_EQ(limits.inject_bytes, 192U);
  EXPECT_EQ(limits.max_message, (std::size_t{1} << 32) - 1);
  EXPECT_EQ(limits.tag_mask, (std::uint64_t{1} << 48) - 1);
  EXPECT_TRUE(limits.rma);
  EXPECT_TRUE(limits.ordered);
  EXPECT_TRUE(limits.manual_progress);
  EXPECT_FALSE(limits.local_registration);
}

TEST_P(Cxi, BL48_QueuesAreAskedForAsTheyAreUsed) {
  EXPECT_EQ(counts().transmit_size, a->limits().queue_depth);
  EXPECT_LE(counts().receive_size, 4096U);
  EXPECT_GE(counts().completion_size, counts().transmit_size + counts().receive_size);
}

TEST_P(Cxi, OnlyWhatPeersReachIsRegistered) {
  const auto before = counts();
  const std::uint64_t counted = a->counters().registrations;
  std::unique_ptr<Error> why;
  const auto local = a->register_memory(memory.data(), 64, MemoryKind::host, true, false, why);
  ASSERT_NE(local, nullptr) << why->what();
  EXPECT_EQ(counts().registrations, before.registrations);
  EXPECT_EQ(a->counters().registrations, counted);
  const auto remote = exposed(*a, memory.data(), 64);
  EXPECT_EQ(counts().registrations - before.registrations, 1U);
  EXPECT_EQ(a->counters().registrations - counted, 1U);
}

TEST_P(Cxi, OptimisedKeysFirstThenOthersAndAgainWhenFree) {
  if (!client_keys()) GTEST_SKIP() << "the provider chooses keys";
  const auto before = counts();
  std::vector<std::unique_ptr<Registration>> all;
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < 150; ++i) {
    all.push_back(exposed(*a, memory.data(), 64 + i));
    keys.push_back(all.back()->key());
  }
  EXPECT_EQ(counts().optimised - before.optimised, cxi_stand_in::optimised_keys);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
  for (std::size_t i = 0; i < 3; ++i) all.erase(all.begin());
  for (std::size_t i = 0; i < 3; ++i) {
    all.push_back(exposed(*a, memory.data(), 64));
    EXPECT_LT(all.back()->key(), cxi_stand_in::optimised_keys);
  }
}

TEST_P(Cxi, ABatchOfWritesRingsOnce) {
  constexpr std::size_t blocks = 40;
  const auto window = exposed(*b, memory.data(), blocks);
  std::vector<std::byte> data = numbered_bytes(blocks, 3);
  const auto before = counts();
  for (std::size_t i = 0; i < blocks; ++i) {
    const Segment from{&data[i], 1, nullptr};
    const RemoteSegment to{window->remote_address() + i, 1, window->key()};
    ASSERT_TRUE(post([&] {
      return a->write(to_b, {&from, 1}, {&to, 1}, &data[i], i + 1 < blocks ? more : 0);
    }));
  }
  EXPECT_EQ(counts().doorbells - before.doorbells, 1U);
  EXPECT_EQ(counts().batches - before.batches, 1U);
  ASSERT_TRUE(drive([&] { return at_a.completions == blocks; }));
  EXPECT_EQ(std::memcmp(memory.data(), data.data(), blocks), 0);
}

TEST_P(Cxi, ABatchWithOneCompletionFlushesOnceAndAsksForNoOrder) {
  constexpr std::size_t blocks = 40;
  const auto window = exposed(*b, memory.data(), blocks);
  std::vector<std::byte> data = numbered_bytes(blocks, 3);
  EXPECT_EQ(counts().ordered_writes, 0U) << "order costs the low-overhead packets";
  const auto before = counts();
  for (std::size_t i = 0; i < blocks; ++i) {
    const bool last = i + 1 == blocks;
    const Segment from{&data[i], 1, nullptr};
    const RemoteSegment to{window->remote_address() + i, 1, window->key()};
    ASSERT_TRUE(post([&] {
      return a->write(to_b, {&from, 1}, {&to, 1}, last ? &data : nullptr, last ? 0 : more);
    }));
  }
  ASSERT_TRUE(drive([&] { return at_a.completions == 1; }));
  EXPECT_EQ(counts().writes - before.writes, blocks);
  EXPECT_EQ(counts().doorbells - before.doorbells, 1U);
  EXPECT_EQ(counts().flushes - before.flushes, 1U);
  EXPECT_EQ(std::memcmp(memory.data(), data.data(), blocks), 0);
}

TEST_P(Cxi, ABatchToADeadPeerEndsOnce) {
  auto window = exposed(*b, memory.data(), 64);
  const std::uint64_t address = window->remote_address(), key = window->key();
  std::byte value{1};
  const Segment from{&value, 1, nullptr};
  const RemoteSegment to{address, 1, key};
  ASSERT_TRUE(post([&] { return a->write(to_b, {&from, 1}, {&to, 1}, nullptr, more); }));
  ASSERT_TRUE(post([&] { return a->write(to_b, {&from, 1}, {&to, 1}, &value, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.completions == 1; }));
  ASSERT_TRUE(post([&] { return a->write(to_b, {&from, 1}, {&to, 1}, nullptr, more); }));
  window.reset();
  b.reset();
  int end = 0;
  bool refused = false;
  ASSERT_TRUE(drive([&] {
    const Result result = a->write(to_b, {&from, 1}, {&to, 1}, &end, 0);
    refused = result.is_error();
    return !result.is_again();
  }));
  if (!refused) {
    ASSERT_TRUE(drive([&] { return at_a.ended.count(&end) == 1; }));
    EXPECT_NE(at_a.ended[&end].error, nullptr);
  }
}

TEST_P(Cxi, BL42_DeviceMemoryIsReachedWithoutRegistrationAndBlocksByWrites) {
  if (!gpu::availability().available) GTEST_SKIP() << gpu::availability().reason;
  ASSERT_TRUE(a->limits().device_memory) << a->limits().device_memory_reason;
  EXPECT_GT(a->limits().inject_bytes, 0U);
  constexpr std::size_t size = 5000;
  const std::vector<std::byte> data = numbered_bytes(size, 1);
  std::vector<std::byte> got(size);
  const gpu::DeviceBuffer source(0, size), target(0, size);
  ASSERT_TRUE(gpu::copy_and_wait(source.data(), data.data(), size).is_done());
  std::unique_ptr<Error> why;
  const auto before = counts();
  const auto reading = a->register_memory(source.data(), size, MemoryKind::device, false, false, why);
  ASSERT_NE(reading, nullptr) << why->what();
  EXPECT_EQ(counts().registrations, before.registrations);
  const auto window = b->register_memory(target.data(), size, MemoryKind::device, true, true, why);
  ASSERT_NE(window, nullptr) << why->what();
  const Segment from{source.data(), size, reading.get()};
  const RemoteSegment to{window->remote_address(), size, window->key()};
  ASSERT_TRUE(post([&] { return a->write(to_b, {&from, 1}, {&to, 1}, &got, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.completions == 1; }));
  EXPECT_EQ(at_a.ended[&got].error, nullptr);
  EXPECT_EQ(counts().device_operations - before.device_operations, 1U);
  ASSERT_TRUE(gpu::copy_and_wait(got.data(), target.data(), size).is_done());
  EXPECT_EQ(got, data);
}

INSTANTIATE_TEST_SUITE_P(StandIn, Cxi, testing::Values("ofi:cxi"), provider_name);

}  // namespace
}  // namespace lath::providers
