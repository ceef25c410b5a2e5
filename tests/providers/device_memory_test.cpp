#include <gtest/gtest.h>

#include <cstring>

#include "gpu/device.hpp"
#include "gpu/stream.hpp"
#include "tests/providers/provider_pair.hpp"

/// Device memory of the emulator, which the processor cannot touch.
namespace lath::providers {
namespace {

class DeviceMemory : public ProviderPair {
 protected:
  void SetUp() override {
    if (!gpu::availability().available) GTEST_SKIP() << gpu::availability().reason;
    ProviderPair::SetUp();
  }
};

constexpr std::size_t size = 5000;

TEST_P(DeviceMemory, BL42_AProviderThatCannotServeItSaysSoAndRefusesIt) {
  const Limits& limits = a->limits();
  if (limits.device_memory) GTEST_SKIP() << GetParam() << " serves device memory here";
  EXPECT_FALSE(limits.device_memory_reason.empty());
  const gpu::DeviceBuffer buffer(0, size);
  std::unique_ptr<Error> why;
  EXPECT_EQ(a->register_memory(buffer.data(), size, MemoryKind::device, true, false, why), nullptr);
  ASSERT_NE(why, nullptr);
  EXPECT_NE(std::string(why->what()).find(limits.device_memory_reason), std::string::npos) << why->what();
  if (GetParam().starts_with("ucx:")) return;  // which never injects
  EXPECT_GT(limits.inject_bytes, 0U) << "asking for device memory must not cost what host memory is granted";
}

TEST_P(DeviceMemory, AListOfDeviceAndHostMemoryEachWay) {
  if (!a->limits().device_memory) GTEST_SKIP() << a->limits().device_memory_reason;
  if (a->limits().send_list < 2 || a->limits().receive_list < 2) GTEST_SKIP() << "no lists of two";
  const std::vector<std::byte> data = numbered_bytes(size, 1);
  std::vector<std::byte> host = numbered_bytes(size, 2), got(2 * size);
  const gpu::DeviceBuffer source(0, size), target(0, size);
  ASSERT_TRUE(gpu::copy_and_wait(source.data(), data.data(), size).is_done());
  std::unique_ptr<Error> why;
  kept.push_back(a->register_memory(source.data(), size, MemoryKind::device, false, false, why));
  ASSERT_NE(kept.back(), nullptr) << why->what();
  const Segment from[] = {{source.data(), size, kept.back().get()},
                          {host.data(), size, registered(*a, host.data(), size)}};
  kept.push_back(b->register_memory(target.data(), size, MemoryKind::device, true, false, why));
  ASSERT_NE(kept.back(), nullptr) << why->what();
  const Registration* writing = kept.back().get();
  const Segment to[] = {{got.data(), size, registered(*b, got.data(), size)}, {target.data(), size, writing}};
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, to, 7, &got); }));
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, from, 7, &host, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.completions == 1 && at_b.completions == 1; }));
  ASSERT_TRUE(gpu::copy_and_wait(got.data() + size, target.data(), size).is_done());
  EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin()));
  EXPECT_TRUE(std::equal(host.begin(), host.end(), got.begin() + size));
}

INSTANTIATE_TEST_SUITE_P(Providers, DeviceMemory,
                         testing::Values("stub", "ofi:tcp", "ofi:shm", "ofi:cxi", "verbs", "ucx:shm",
                                         "ucx:tcp"),
                         provider_name);

TEST(StubDeviceMemory, TaggedMessageBetweenDeviceBuffers) {
  if (!gpu::availability().available) GTEST_SKIP() << gpu::availability().reason;
  StubNetwork network;
  StubOptions options;
  options.limits.device_memory = true;
  const auto a = network.attach(options);
  const auto b = network.attach(options);
  const PeerId to_b = a->connect(b->address());
  const PeerId to_a = b->connect(a->address());
  const std::vector<std::byte> data = numbered_bytes(size, 1);
  std::vector<std::byte> got(size);
  const gpu::DeviceBuffer source(0, size), target(0, size);
  ASSERT_TRUE(gpu::copy_and_wait(source.data(), data.data(), size).is_done());
  std::unique_ptr<Error> why;
  const auto reading = a->register_memory(source.data(), size, MemoryKind::device, false, false, why);
  const auto writing = b->register_memory(target.data(), size, MemoryKind::device, true, false, why);
  const Segment from{source.data(), size, reading.get()}, to{target.data(), size, writing.get()};
  Reported at_a, at_b;
  ASSERT_TRUE(b->receive_tagged(to_a, {&to, 1}, 7, &got).is_done());
  ASSERT_TRUE(a->send_tagged(to_b, {&from, 1}, 7, &at_a, 0).is_done());
  for (int i = 0; i < 4; ++i) {
    ASSERT_FALSE(a->poll(at_a).is_error());
    ASSERT_FALSE(b->poll(at_b).is_error());
  }
  ASSERT_EQ(at_b.ended[&got].times, 1U);
  ASSERT_TRUE(gpu::copy_and_wait(got.data(), target.data(), size).is_done());
  EXPECT_EQ(got, data);
  EXPECT_TRUE(network.violations().empty());
}

}  // namespace
}  // namespace lath::providers
