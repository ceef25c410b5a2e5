#include <cstdlib>

#include "base/config.hpp"
#include "gpu/device.hpp"
#include "gpu/driver.hpp"
#include "tests/transport/exchange.hpp"

/// Exchanges out of and into device memory. meson runs them on the emulator, once with a random delay in
/// every operation of its streams.
namespace lath::transport {
namespace {

void use_scheme(const char* scheme) {
  setenv("LATH_SCHEME", scheme, 1);
  config::reload();
}

class DeviceExchange : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(DeviceExchange, RandomMessages) {
  if (!gpu::availability().available) GTEST_SKIP() << "no GPU: " << gpu::availability().reason;
  const auto [scheme, sides] = GetParam();
  use_scheme(scheme);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    providers::StubOptions stub;
    stub.limits.device_memory = seed % 2 == 0;
    Pair pair(stub);
    ExchangeOptions options;
    options.seed = seed;
    options.messages = 17;
    options.device_send = (sides & 1) != 0;
    options.device_receive = (sides & 2) != 0;
    Exchange(pair, options).run();
    const auto violations = pair.network.violations();
    ASSERT_TRUE(violations.empty()) << violations.front();
    if (HasFatalFailure()) return;
  }
}

std::string case_name(const testing::TestParamInfo<DeviceExchange::ParamType>& info) {
  const char* sides[] = {"", "_out", "_in", "_both"};
  return std::get<0>(info.param) + std::string(sides[std::get<1>(info.param)]);
}

INSTANTIATE_TEST_SUITE_P(SchemesAndSides, DeviceExchange,
                         testing::Combine(testing::Values("auto", "contiguous", "gather", "device_pack",
                                                          "host_pack", "staged"),
                                          testing::Values(1, 2, 3)),
                         case_name);

TEST(DeviceMessage, BL34_IntoAStridedDeviceBuffer) {
  if (!gpu::availability().available) GTEST_SKIP() << "no GPU: " << gpu::availability().reason;
  use_scheme("auto");
  Pair pair;
  TestBuffer out(Layout::contiguous(65536 * 4), true, 1);
  TestBuffer in(Layout::of(parse_type("vector(16,4096,8192,int)"), 1), true, 2);
  const auto before = in.host();
  Request* receive = pair.receive(1, in.data());
  Request* send = pair.send(0, out.data());
  EXPECT_EQ(pair.wait(1, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  EXPECT_TRUE(in.holds(out.packed(), before));
}

TEST(DeviceMessage, BL33_DriverCallsDoNotGrowWithBlocks) {
  if (!gpu::availability().available) GTEST_SKIP() << "no GPU: " << gpu::availability().reason;
  use_scheme("auto");
  Pair pair;
  const Layout layout = Layout::of(parse_type("vector(1000000,1,2,int)"), 1);
  TestBuffer out(layout, true, 1), in(layout, true, 2);
  const auto before = in.host();
  std::uint64_t calls = 0;
  for (int round = 0; round < 2; ++round) {
    const Counters start = pair[0].counters();
    Request* receive = pair.receive(1, in.data());
    Request* send = pair.send(0, out.data());
    EXPECT_EQ(pair.wait(1, receive).error, nullptr);
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    calls = pair[0].counters().driver_calls - start.driver_calls;
  }
  EXPECT_TRUE(in.holds(out.packed(), before));
  // Both sides, 8 chunks of 512 KiB: a launch or copy and an event each, and as much again to spare.
  EXPECT_LE(calls, 8U * 2 * 2 * 2 + 16);
}

// Kernels count from the layout's lowest byte: the buffer address itself may be anywhere.
TEST(DeviceMessage, ABufferAddressOutsideTheMemoryCostsNoCallsABlock) {
  if (!gpu::availability().available) GTEST_SKIP() << "no GPU: " << gpu::availability().reason;
  use_scheme("auto");
  Pair pair;
  constexpr std::int64_t blocks = 10000;
  gpu::DeviceBuffer memory(0, 8 * blocks);
  std::vector<int> values = counting<int>(2 * blocks), in(blocks);
  ASSERT_TRUE(gpu::copy_and_wait(memory.data(), values.data(), 8 * blocks).is_done());
  const std::int64_t length = 1;
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(memory.data()));
  const Datatype vector = Datatype::vector(blocks, 1, 2, Datatype::basic(Basic::int_));
  const Datatype absolute = Datatype::hindexed(std::span(&length, 1), std::span(&address, 1), vector);
  const std::uint64_t before = pair[0].counters().driver_calls;
  Request* receive = pair.receive(1, data_of(in));
  Request* send = pair.send(0, Data::of(nullptr, Layout::of(absolute, 1)));
  EXPECT_EQ(pair.wait(1, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  for (std::int64_t i = 0; i < blocks; ++i) ASSERT_EQ(in[static_cast<std::size_t>(i)], 2 * i + 1);
  EXPECT_LE(pair[0].counters().driver_calls - before, 100U);
}

// Whatever the driver refuses from now on, both sides' requests end.
TEST(DeviceMessage, ADriverThatMakesNothingMoreEndsTheMessage) {
  if (!gpu::availability().emulated) GTEST_SKIP() << "no emulator: " << gpu::availability().reason;
  using Fail = int (*)(const char*, std::uint64_t, std::uint64_t, int);
  const auto fail = reinterpret_cast<Fail>(gpu::driver_symbol("lath_emulator_fail"));
  ASSERT_NE(fail, nullptr);
  use_scheme("auto");
  for (const char* call : {"cuEventCreate", "cuStreamCreate", "cuMemHostAlloc", "cuMemAlloc_v2",
                           "cuEventRecord", "cuLaunchKernel"}) {
    Pair pair;
    const Layout layout = Layout::of(parse_type("vector(100000,1,2,int)"), 1);
    TestBuffer out(layout, true, 1), in(layout, true, 2);
    ASSERT_EQ(fail(call, 1, UINT64_MAX / 2, 700), 0) << call;
    Request* receive = pair.receive(1, in.data());
    Request* send = pair.send(0, out.data());
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    bool ended[2] = {false, false};
    Request* requests[2] = {send, receive};
    while (!(ended[0] && ended[1]) && std::chrono::steady_clock::now() < end) {
      for (std::size_t i : {0U, 1U})
        if (!ended[i]) ended[i] = pair[i].test(*requests[i]).complete;
      pair.progress();
    }
    fail(call, 0, 0, 0);
    EXPECT_TRUE(ended[0] && ended[1]) << call;
  }
}

TEST(DeviceMessage, PastTheEndOfAnAllocationIsRefused) {
  if (!gpu::availability().available) GTEST_SKIP() << "no GPU: " << gpu::availability().reason;
  use_scheme("auto");
  Pair pair;
  constexpr std::size_t bytes = std::size_t{1} << 20;
  gpu::DeviceBuffer memory(0, bytes);
  auto freed = std::make_unique<gpu::DeviceBuffer>(0, bytes);
  void* gone = freed->data();
  freed.reset();
  char* begin = static_cast<char*>(memory.data());
  const Layout vector = Layout::of(parse_type("vector(1025,128,1024,char)"), 1);
  for (const Data& bad :
       {Data{begin, bytes + 16, {}}, Data{begin + bytes - 8, 16, {}}, Data::of(begin, vector),
        Data{gone, 16, {}}, Data{gone, bytes, {}}, Data::of(gone, vector)}) {
    Request* request = nullptr;
    Result result = pair[0].send(pair.peer(0), bad, 0, 1, false, request);
    ASSERT_TRUE(result.is_error());
    EXPECT_EQ(result.error().lath_code(), Code::bad_address) << result.error().what();
    result = pair[0].receive(bad, {0, 1, 1}, request);
    ASSERT_TRUE(result.is_error());
    EXPECT_EQ(result.error().lath_code(), Code::bad_address) << result.error().what();
  }
}

TEST(DeviceMessage, BL17_HostAndDeviceBlocksInOneType) {
  if (!gpu::availability().available) GTEST_SKIP() << "no GPU: " << gpu::availability().reason;
  use_scheme("auto");
  Pair pair;
  gpu::DeviceBuffer device(0, 4);
  int host = 8;
  const int seven = 7;
  ASSERT_TRUE(gpu::copy_and_wait(device.data(), &seven, 4).is_done());
  const std::vector<std::int64_t> lengths{1, 1};
  const std::vector<std::int64_t> addresses{reinterpret_cast<std::intptr_t>(device.data()),
                                            reinterpret_cast<std::intptr_t>(&host)};
  const Datatype type = Datatype::hindexed(lengths, addresses, Datatype::basic(Basic::int_));
  std::vector<int> in(2);
  Request* receive = pair.receive(1, data_of(in));
  Request* send = pair.send(0, Data::of(nullptr, Layout::of(type, 1)));
  EXPECT_EQ(pair.wait(1, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  EXPECT_EQ(in, (std::vector<int>{7, 8}));

  in = {70, 80};
  receive = pair.receive(1, Data::of(nullptr, Layout::of(type, 1)));
  send = pair.send(0, data_of(in));
  EXPECT_EQ(pair.wait(1, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  int from_device = 0;
  ASSERT_TRUE(gpu::copy_and_wait(&from_device, device.data(), 4).is_done());
  EXPECT_EQ(from_device, 70);
  EXPECT_EQ(host, 80);
}

}  // namespace
}  // namespace lath::transport
