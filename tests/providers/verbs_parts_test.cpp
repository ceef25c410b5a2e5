#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "gpu/device.hpp"
#include "gpu/stream.hpp"
#include "providers/verbs/address.hpp"
#include "providers/verbs/device_memory.hpp"
#include "providers/verbs/gid.hpp"
#include "providers/verbs/handshake.hpp"
#include "providers/verbs/queue_pair.hpp"
#include "providers/verbs/tagged.hpp"

/// The parts of the verbs provider that need no device.
namespace lath::providers::verbs {
namespace {

GidEntry entry(std::uint8_t index, std::initializer_list<int> first, bool routable, bool mapped = false) {
  GidEntry made;
  made.index = index;
  made.routable = routable;
  std::transform(first.begin(), first.end(), std::begin(made.gid.raw),
                 [](int byte) { return static_cast<std::uint8_t>(byte); });
  if (mapped) {
    made.gid.raw[10] = made.gid.raw[11] = 0xff;
    made.gid.raw[12] = 10;
  }
  return made;
}

/// Ways to device memory that work or fail as told; a handle that owns nothing stands for a registration.
class DeviceMemoryWays : public testing::Test {
 protected:
  DeviceMemoryWays() {
    calls.export_dma_buf = [this](std::uintptr_t begin, std::size_t bytes) {
      EXPECT_EQ(begin % 4096, 0U);
      EXPECT_EQ(bytes % 4096, 0U);
      EXPECT_LE(begin, reinterpret_cast<std::uintptr_t>(address));
      EXPECT_GE(begin + bytes, reinterpret_cast<std::uintptr_t>(address) + 5000);
      work("export");
      return file = dup(0);
    };
    calls.register_dma_buf = [this](int given, std::size_t, std::uintptr_t, int) {
      EXPECT_EQ(given, file);
      work("dma-buf");
      return MemoryRegionHandle();
    };
    calls.register_address = [this](void* given, std::size_t bytes, int) {
      EXPECT_EQ(given, address);
      EXPECT_EQ(bytes, 5000U);
      work("address");
      return MemoryRegionHandle();
    };
    calls.alias = [this](const void*, std::size_t) { return mapped; };
    calls.register_as = [this](void* given, std::size_t, std::uintptr_t as, int) {
      EXPECT_EQ(given, mapped);
      EXPECT_EQ(as, reinterpret_cast<std::uintptr_t>(address));
      work("alias");
      return MemoryRegionHandle();
    };
  }
  void work(const std::string& step) {
    done += step + ' ';
    if (failing.find(step) != std::string::npos) throw Error(Domain::verbs, EFAULT, step + " refused");
  }
  DeviceWay way() {
    done.clear();
    return register_device_memory(calls, address, 5000, 0).way;
  }

  DeviceMemoryCalls calls;
  void* address = reinterpret_cast<void*>(0x7000000200);
  void* mapped = nullptr;
  std::string failing, done;
  int file = -1;
};

TEST_F(DeviceMemoryWays, TheFirstThatWorksIsTaken) {
  EXPECT_EQ(way(), DeviceWay::dma_buf);
  EXPECT_EQ(done, "export dma-buf ");
  EXPECT_EQ(fcntl(file, F_GETFD), -1) << "the file is left open";
  failing = "export";
  EXPECT_EQ(way(), DeviceWay::peer_memory);
  EXPECT_EQ(done, "export address ");
}

TEST_F(DeviceMemoryWays, BL41_ARefusalAfterTheExportLeavesNoFile) {
  failing = "dma-buf";
  EXPECT_EQ(way(), DeviceWay::peer_memory);
  EXPECT_EQ(fcntl(file, F_GETFD), -1) << "the file is left open";
}

TEST_F(DeviceMemoryWays, TheEmulatorsMappingComesLast) {
  failing = "export address";
  mapped = &failing;
  EXPECT_EQ(way(), DeviceWay::emulator);
  EXPECT_EQ(done, "export address alias ");
}

// Some drivers crash when they are asked for it.
TEST_F(DeviceMemoryWays, MemoryFromAPoolIsNotExported) {
  if (!gpu::availability().available) GTEST_SKIP() << gpu::availability().reason;
  const gpu::Stream stream(0);
  const gpu::ContextGuard guard(0);
  gpu::CUdeviceptr pointer = 0;
  ASSERT_EQ(gpu::driver()->cuMemAllocAsync(&pointer, 5000, stream.get()), gpu::CUDA_SUCCESS);
  address = reinterpret_cast<void*>(pointer);
  EXPECT_EQ(way(), DeviceWay::peer_memory);
  EXPECT_EQ(done, "address ");
  ASSERT_EQ(gpu::driver()->cuMemFreeAsync(pointer, stream.get()), gpu::CUDA_SUCCESS);
  ASSERT_EQ(gpu::driver()->cuStreamSynchronize(stream.get()), gpu::CUDA_SUCCESS);
}

TEST_F(DeviceMemoryWays, WhereNoneWorksEveryReasonIsTold) {
  failing = "export address alias";
  mapped = &failing;
  try {
    (void)way();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.lath_code(), Code::not_supported);
    for (const char* step : {"export", "address", "alias"})
      EXPECT_NE(std::string(error.what()).find(std::string(step) + " refused"), std::string::npos)
          << error.what();
  }
}

TEST(VerbsGid, PrefersRoutableThenIpv4ThenGlobal) {
  const GidEntry old_link_local = entry(0, {0xfe, 0x80, 1}, false),
                 link_local = entry(1, {0xfe, 0x80, 1}, true);
  const GidEntry old_mapped = entry(2, {}, false, true), mapped = entry(3, {}, true, true);
  const GidEntry global = entry(4, {0x20, 1}, true), empty = entry(5, {}, true);
  const auto chosen = [](std::vector<GidEntry> table) { return choose_gid(table)->index; };
  EXPECT_EQ(chosen({old_link_local, link_local, old_mapped, mapped, global, empty}), 3);
  EXPECT_EQ(chosen({old_link_local, link_local, old_mapped, global}), 4);
  EXPECT_EQ(chosen({old_link_local, link_local, old_mapped}), 1);
  EXPECT_EQ(chosen({old_link_local, old_mapped}), 2);
  EXPECT_FALSE(choose_gid(std::vector<GidEntry>{empty}).has_value());
  EXPECT_FALSE(choose_gid({}).has_value());
}

TEST(VerbsQueuePair, BL43_CapsAreNegotiatedDownwards) {
  QueueCaps caps{
      .send_depth = 128, .receive_depth = 64, .send_list = 64, .receive_list = 64, .inline_bytes = 1024};
  EXPECT_TRUE(negotiate(caps, [](QueueCaps& asked) {
    return asked.send_list <= 30 && asked.receive_list <= 30 && asked.inline_bytes <= 256;
  }));
  // The first thing to give way is inline data: down to nothing before lists shrink.
  EXPECT_LE(caps.inline_bytes, 256U);
  EXPECT_EQ(caps.send_list, 16U);
  EXPECT_EQ(caps.receive_list, 16U);
  EXPECT_EQ(caps.send_depth, 128U);
}

TEST(VerbsQueuePair, BL43_NegotiationEnds) {
  QueueCaps caps{
      .send_depth = 4096, .receive_depth = 0, .send_list = 30, .receive_list = 0, .inline_bytes = 988};
  int asked = 0;
  EXPECT_FALSE(negotiate(caps, [&](QueueCaps& each) {
    EXPECT_GE(each.send_list, 1U);
    EXPECT_EQ(each.receive_list, 0U);
    ++asked;
    return false;
  }));
  EXPECT_LT(asked, 50);
}

Address an_address() {
  Address address{.node = 1,
                  .process = 2,
                  .worker = 3,
                  .gid = {},
                  .datagrams = 17,
                  .key = 4,
                  .lid = 5,
                  .link_layer = IBV_LINK_LAYER_INFINIBAND,
                  .mtu = IBV_MTU_4096};
  address.gid.raw[15] = 9;
  return address;
}

TEST(VerbsAddress, ComesBackWhole) {
  const Address sent = an_address();
  const Address got = decode(encode(sent));
  EXPECT_EQ(got.worker, sent.worker);
  EXPECT_EQ(got.process, sent.process);
  EXPECT_EQ(got.gid.raw[15], 9);
  EXPECT_EQ(got.datagrams, 17U);
  EXPECT_EQ(got.lid, 5);
  EXPECT_EQ(encode(sent).size(), address_bytes);
}

TEST(VerbsAddress, ImpossibleFieldsAreRefused) {
  const auto refused = [](auto change) {
    Address address = an_address();
    change(address);
    EXPECT_THROW((void)decode(encode(address)), Error);
  };
  refused([](Address& address) { address.mtu = 0; });
  refused([](Address& address) { address.mtu = 9; });
  refused([](Address& address) { address.datagrams = 0; });
  refused([](Address& address) { address.datagrams = 1U << 24; });
  refused([](Address& address) {
    address.gid = {};
    address.lid = 0;
  });
}

Handshake a_handshake() {
  Handshake handshake;
  handshake.to = 8;
  handshake.from = an_address();
  handshake.epoch = 77;
  handshake.echo = 78;
  handshake.lanes = {{{1, 11}, {2, 22}, {3, 33}}};
  return handshake;
}

TEST(VerbsHandshake, ComesBackWhole) {
  const auto got = decode_handshake(encode(a_handshake()));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->to, 8U);
  EXPECT_EQ(got->from.worker, 3U);
  EXPECT_EQ(got->epoch, 77U);
  EXPECT_EQ(got->echo, 78U);
  EXPECT_EQ(got->lanes[2].number, 3U);
  EXPECT_EQ(got->lanes[2].first_packet, 33U);
  EXPECT_FALSE(got->established);
}

TEST(VerbsHandshake, DamagedOnesAreDropped) {
  const HandshakeBytes whole = encode(a_handshake());
  EXPECT_FALSE(decode_handshake({}));
  EXPECT_FALSE(decode_handshake(std::span(whole).first(whole.size() - 1)));
  HandshakeBytes other_magic = whole, other_kind = whole;
  other_magic[0] ^= std::byte{1};
  EXPECT_FALSE(decode_handshake(other_magic));
  other_kind[4] = std::byte{7};
  EXPECT_FALSE(decode_handshake(other_kind));
  Handshake no_queue_pair = a_handshake(), no_epoch = a_handshake();
  no_queue_pair.lanes[1].number = 0;
  EXPECT_FALSE(decode_handshake(encode(no_queue_pair)));
  no_epoch.epoch = 0;
  EXPECT_FALSE(decode_handshake(encode(no_epoch)));
}

class VerbsMatching : public testing::Test {
 protected:
  TaggedReceive* receive(std::uint64_t tag) {
    TaggedReceive* made = pool.take();
    made->tag = tag;
    matching.receive(made);
    return made;
  }
  TaggedMatching matching{3};
  RecordPool<TaggedReceive> pool{8, 2};
};

TEST_F(VerbsMatching, ReceivesAndRequestsMeetByTagInOrder) {
  TaggedReceive* first = receive(5);
  TaggedReceive* second = receive(5);
  TaggedReceive* other = receive(6);
  ASSERT_TRUE(matching.request({6, 10, 0}));
  ASSERT_TRUE(matching.request({5, 10, 1}));
  ASSERT_TRUE(matching.request({5, 10, 2}));
  // In the order of the requests: that is the order of the grants.
  EXPECT_EQ(matching.matched().pop(), other);
  EXPECT_EQ(matching.matched().pop(), first);
  EXPECT_EQ(matching.matched().pop(), second);
  EXPECT_EQ(first->request.sender, 1U);
  EXPECT_EQ(second->request.sender, 2U);
  EXPECT_TRUE(matching.matched().empty());
}

TEST_F(VerbsMatching, RequestsThatComeEarlyWait) {
  ASSERT_TRUE(matching.request({1, 10, 0}));
  ASSERT_TRUE(matching.request({2, 10, 1}));
  ASSERT_TRUE(matching.request({1, 10, 2}));
  EXPECT_FALSE(matching.request({3, 10, 3})) << "more than the peer may have";
  TaggedReceive* two = receive(2);
  EXPECT_EQ(two->state, TaggedReceive::State::matched);
  EXPECT_EQ(receive(1)->request.sender, 0U);
  EXPECT_EQ(receive(1)->request.sender, 2U);
  EXPECT_EQ(receive(1)->state, TaggedReceive::State::waiting);
}

TEST_F(VerbsMatching, OnlyUnmatchedReceivesAreWithdrawn) {
  TaggedReceive* first = receive(1);
  TaggedReceive* second = receive(2);
  ASSERT_TRUE(matching.request({1, 10, 0}));
  EXPECT_FALSE(matching.withdraw(first));
  EXPECT_TRUE(matching.withdraw(second));
  EXPECT_FALSE(matching.withdraw(second));
  EXPECT_EQ(matching.take_any(), first);
  EXPECT_EQ(matching.take_any(), nullptr);
}

TEST_F(VerbsMatching, RecordsThatAreNotInUseAreNotFound) {
  TaggedReceive* used = receive(1);
  EXPECT_EQ(pool.find(pool.number(used)), used);
  EXPECT_EQ(pool.find(pool.number(used) + 1), nullptr);
  EXPECT_EQ(pool.find(1000), nullptr);
  pool.give_back(used);
  EXPECT_EQ(pool.find(pool.number(used)), nullptr);
}

}  // namespace
}  // namespace lath::providers::verbs
