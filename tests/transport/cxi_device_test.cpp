#include <cstdlib>
#include <cstring>

#include "base/config.hpp"
#include "gpu/device.hpp"
#include "tests/cxi_stand_in/counts.hpp"
#include "tests/transport/exchange.hpp"

/// Device memory over the stand-in for cxi, whose NIC reaches the emulator's.
namespace lath::transport {
namespace {

void use_scheme(const char* scheme) {
  setenv("LATH_SCHEME", scheme, 1);
  config::reload();
}

class CxiDeviceExchange : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(CxiDeviceExchange, RandomMessages) {
  ASSERT_TRUE(gpu::availability().available) << gpu::availability().reason;
  const auto [scheme, sides] = GetParam();
  use_scheme(scheme);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Pair pair("ofi:cxi");
    ExchangeOptions options;
    options.seed = seed;
    options.messages = 17;
    options.most_copies = 200;
    options.device_send = (sides & 1) != 0;
    options.device_receive = (sides & 2) != 0;
    Exchange(pair, options).run();
    if (HasFatalFailure()) return;
  }
}

std::string case_name(const testing::TestParamInfo<CxiDeviceExchange::ParamType>& info) {
  const char* sides[] = {"", "_out", "_in", "_both"};
  return std::get<0>(info.param) + std::string(sides[std::get<1>(info.param)]);
}

INSTANTIATE_TEST_SUITE_P(SchemesAndSides, CxiDeviceExchange,
                         testing::Combine(testing::Values("auto", "contiguous", "device_pack", "host_pack",
                                                          "staged"),
                                          testing::Values(1, 2, 3)),
                         case_name);

/// Whether the stand-in offers FI_HMEM, which its environment says.
bool reachable() {
  const char* offered = std::getenv("CXI_STAND_IN_HMEM");
  return offered == nullptr || std::strcmp(offered, "0") != 0;
}

// A strided face: with lists of 1 it is packed once by a kernel, into memory that the NIC reaches: the
// device's own, or else the host's, through which the payload then goes on its way.
TEST(CxiDevice, AFaceTouchesHostMemoryOnlyWhereTheNicCannotReachTheDevices) {
  ASSERT_TRUE(gpu::availability().available) << gpu::availability().reason;
  use_scheme("auto");
  Pair pair("ofi:cxi");
  ASSERT_EQ(pair[0].limits().device_memory, reachable()) << pair[0].limits().device_memory_reason;
  const Layout face = Layout::of(parse_type("vector(20000,4,8,double)"), 1);
  TestBuffer out(face, true, 1), in(face, true, 2);
  const auto pattern = in.host();
  const Counters before = pair[0].counters(), before_there = pair[1].counters();
  const auto device_before = cxi_stand_in::counts().device_operations;
  Request* receive = pair.receive(1, in.data());
  Request* send = pair.send(0, out.data());
  EXPECT_EQ(pair.wait(1, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  EXPECT_TRUE(in.holds(out.packed(), pattern));
  Counters used = pair[0].counters(), used_there = pair[1].counters();
  used -= before;
  used_there -= before_there;
  const auto bytes = static_cast<std::uint64_t>(face.bytes());
  for (const Counters& side : {used, used_there}) {
    EXPECT_EQ(side.pack_copies, 1U) << "the kernel's";
    EXPECT_EQ(side.staged_bytes, reachable() ? 0U : bytes);
    EXPECT_EQ(side.registrations, 0U) << "cxi finds local memory by itself";
  }
  EXPECT_EQ(cxi_stand_in::counts().device_operations > device_before, reachable());
}

}  // namespace
}  // namespace lath::transport
