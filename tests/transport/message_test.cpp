#include <gtest/gtest.h>

#include <cstring>

#include "tests/transport/pair.hpp"

namespace lath::transport {
namespace {

std::vector<std::size_t> sizes(std::initializer_list<std::size_t> list) {
  return list;
}

TEST(Message, ContiguousOfEverySizeArrives) {
  Pair pair;
  for (std::size_t bytes :
       sizes({0, 1, 8, 63, 64, 65, 127, 128, 129, 4096, 8192, 8193, 16000, 100000, 3000000})) {
    auto out = counting<unsigned char>(bytes);
    std::vector<unsigned char> in(bytes, 0xEE);
    Request* receive = pair.receive(1, data_of(in), 7);
    Request* send = pair.send(0, data_of(out), 7);
    const Outcome received = pair.wait(1, receive);
    EXPECT_EQ(received.error, nullptr);
    EXPECT_EQ(received.status.source, 0);
    EXPECT_EQ(received.status.tag, 7);
    EXPECT_EQ(received.status.bytes, static_cast<std::int64_t>(bytes));
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    EXPECT_EQ(in, out) << bytes;
  }
  EXPECT_TRUE(pair.network.violations().empty());
}

TEST(Message, UnexpectedOfEverySizeArrives) {
  Pair pair;
  for (std::size_t bytes : sizes({0, 8, 5000, 100000})) {
    auto out = counting<unsigned char>(bytes);
    std::vector<unsigned char> in(bytes, 0xEE);
    Request* send = pair.send(0, data_of(out), 7);
    for (int i = 0; i < 20; ++i) pair.progress();
    Request* receive = pair.receive(1, data_of(in), 7);
    EXPECT_EQ(pair.wait(1, receive).status.bytes, static_cast<std::int64_t>(bytes));
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    EXPECT_EQ(in, out) << bytes;
  }
}

TEST(Message, BL24_DifferentTypesOfOneSignature) {
  Pair pair;
  for (std::int64_t count : {100, 20000}) {
    auto out = counting<double>(static_cast<std::size_t>(2 * count));
    std::vector<double> in(static_cast<std::size_t>(count));
    Request* receive = pair.receive(1, data_of(in), 1);
    Request* send = pair.send(0, data_of(out, "vector(" + std::to_string(count) + ",1,2,double)"), 1);
    EXPECT_EQ(pair.wait(1, receive).error, nullptr);
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(in[i], out[2 * i]);
  }
}

TEST(Message, BL24_BothSidesNoncontiguousWithOtherBlocks) {
  Pair pair;
  const std::size_t elements = 3 * 7 * 1000;
  auto out = counting<int>(elements * 2);
  std::vector<int> in(elements * 2, -1);
  Request* send = pair.send(0, data_of(out, "vector(7000,3,6,int)"));
  Request* receive = pair.receive(1, data_of(in, "vector(3000,7,14,int)"));
  EXPECT_EQ(pair.wait(1, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  for (std::size_t i = 0; i < elements; ++i) ASSERT_EQ(in[i / 7 * 14 + i % 7], out[i / 3 * 6 + i % 3]) << i;
  for (std::size_t i = 7; i < in.size(); i += 14) ASSERT_EQ(in[i], -1);
}

TEST(Message, BL27_ToSelf) {
  Pair pair;
  std::vector<int> eight(8, -1);
  auto four = counting<int>(4);
  Request* receive = pair.receive(0, data_of(eight, "indexed_block(1,[1,3,5,7],int)"), 3, 10);
  Request* send = nullptr;
  ASSERT_TRUE(pair[0].send(pair.to_self(0), data_of(four), 0, 3, false, send).is_done());
  EXPECT_EQ(pair.wait(0, receive).status.source, 10);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  EXPECT_EQ(eight, (std::vector<int>{-1, 1, -1, 2, -1, 3, -1, 4}));

  auto large = counting<int>(100000);
  std::vector<int> every_other(200000, -1);
  ASSERT_TRUE(pair[0].send(pair.to_self(0), data_of(large), 0, 4, false, send).is_done());
  receive = pair.receive(0, data_of(every_other, "vector(100000,1,2,int)"), 4, 10);
  EXPECT_EQ(pair.wait(0, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  for (std::size_t i = 0; i < large.size(); ++i) ASSERT_EQ(every_other[2 * i], large[i]);
}

TEST(Message, BL25_EmptyTypesLeaveNothingBehind) {
  Pair pair;
  std::vector<int> none(1, 5);
  Request* send = pair.send(0, data_of(none, "contiguous(0,int)", 3), 1);
  Request* receive = pair.receive(1, data_of(none, "int", 0), 1);
  EXPECT_EQ(pair.wait(1, receive).status.bytes, 0);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  MessageStatus status;
  EXPECT_FALSE(pair[1].probe({0, any_source, any_tag}, status));
}

TEST(Message, TruncatedDeliversWhatFits) {
  Pair pair;
  for (std::size_t sent : sizes({100, 5000, 200000})) {
    auto out = counting<int>(sent);
    std::vector<int> in(sent / 3, -1);
    std::vector<int> next(1);
    std::vector<int> one{77};
    Request* receive = pair.receive(1, data_of(in), 1);
    Request* send = pair.send(0, data_of(out), 1);
    Request* other = pair.send(0, data_of(one), 2);
    const Outcome outcome = pair.wait(1, receive);
    ASSERT_NE(outcome.error, nullptr);
    EXPECT_EQ(outcome.error->lath_code(), Code::truncated);
    EXPECT_EQ(outcome.status.bytes, static_cast<std::int64_t>(sent / 3 * 4));
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
    EXPECT_EQ(pair.wait(1, pair.receive(1, data_of(next), 2)).error, nullptr);
    EXPECT_EQ(pair.wait(0, other).error, nullptr);
    EXPECT_EQ(next[0], 77);
  }
}

TEST(Message, BL18_ShorterThanTheReceive) {
  Pair pair;
  std::vector<unsigned char> out(28, 1);
  std::vector<unsigned char> in(48, 9);
  Request* receive = pair.receive(1, data_of(in, "resized(0,16,struct([1,1],[0,8],[int,double]))", 3));
  Request* send = pair.send(0, data_of(out));
  const Outcome outcome = pair.wait(1, receive);
  EXPECT_EQ(outcome.error, nullptr);
  EXPECT_EQ(outcome.status.bytes, 28);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  EXPECT_EQ(in[32], 1);
  EXPECT_EQ(in[40], 9);
}

TEST(Message, OrderIsKeptBetweenSmallAndLarge) {
  Pair pair;
  std::vector<std::vector<int>> out;
  std::vector<Request*> sends;
  for (int i = 0; i < 200; ++i)
    out.emplace_back(static_cast<std::size_t>(i % 3 == 0 ? 20000 : i % 3 == 1 ? 1 : 1500), i);
  for (auto& values : out) sends.push_back(pair.send(0, data_of(values), 5));
  for (int i = 0; i < 200; ++i) {
    std::vector<int> in(20000, -1);
    const Outcome outcome = pair.wait(1, pair.receive(1, data_of(in), i % 2 == 0 ? 5 : any_tag));
    ASSERT_EQ(outcome.error, nullptr);
    ASSERT_EQ(outcome.status.bytes, static_cast<std::int64_t>(out[static_cast<std::size_t>(i)].size() * 4));
    ASSERT_EQ(in[0], i);
  }
  for (Request* send : sends) EXPECT_EQ(pair.wait(0, send).error, nullptr);
}

TEST(Message, SynchronousCompletesOnlyWhenMatched) {
  Pair pair;
  for (std::size_t count : sizes({0, 4})) {
    auto out = counting<int>(count);
    std::vector<int> in(count);
    Request* send = pair.send(0, data_of(out), 1, 0, true);
    for (int i = 0; i < 100; ++i) {
      pair.progress();
      ASSERT_FALSE(pair[0].test(*send).complete);
    }
    EXPECT_EQ(pair.wait(1, pair.receive(1, data_of(in), 1)).error, nullptr);
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    EXPECT_EQ(in, out);
  }
}

TEST(Message, ProbeAndMatchedProbe) {
  Pair pair;
  MessageStatus status;
  EXPECT_FALSE(pair[1].probe({0, any_source, any_tag}, status));
  for (std::size_t count : sizes({3, 50000})) {
    auto out = counting<int>(count);
    Request* send = pair.send(0, data_of(out), 9, 2);
    while (!pair[1].probe({2, any_source, any_tag}, status)) pair.progress();
    EXPECT_EQ(status.source, 0);
    EXPECT_EQ(status.tag, 9);
    EXPECT_EQ(status.bytes, static_cast<std::int64_t>(4 * count));
    EXPECT_FALSE(pair[1].probe({0, any_source, any_tag}, status));
    EXPECT_FALSE(pair[1].probe({2, any_source, 8}, status));
    Envelope* message = pair[1].probe_matched({2, 0, 9}, status);
    ASSERT_NE(message, nullptr);
    EXPECT_FALSE(pair[1].probe({2, any_source, any_tag}, status));
    std::vector<int> in(count);
    Request* receive = nullptr;
    ASSERT_TRUE(pair[1].receive_matched(*message, data_of(in), receive).is_done());
    EXPECT_EQ(pair.wait(1, receive).error, nullptr);
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    EXPECT_EQ(in, out);
  }
}

TEST(Message, CancelledReceiveLetsTheMessagePass) {
  Pair pair;
  std::vector<int> first(4), second(4);
  auto out = counting<int>(4);
  Request* cancelled = pair.receive(1, data_of(first), 1);
  ASSERT_TRUE(pair[1].cancel(*cancelled).is_done());
  const Outcome outcome = pair.wait(1, cancelled);
  ASSERT_NE(outcome.error, nullptr);
  EXPECT_EQ(outcome.error->lath_code(), Code::cancelled);
  Request* receive = pair.receive(1, data_of(second), 1);
  Request* send = pair.send(0, data_of(out), 1);
  EXPECT_EQ(pair.wait(1, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  EXPECT_EQ(second, out);
  EXPECT_EQ(first, std::vector<int>(4));
}

TEST(Message, BL29_PersistentOutlivesItsTypes) {
  Pair pair;
  for (std::int64_t count : {4, 20000}) {
    std::vector<int> out(static_cast<std::size_t>(2 * count));
    std::vector<int> in(static_cast<std::size_t>(2 * count), -1);
    const std::string type = "vector(" + std::to_string(count) + ",1,2,int)";
    Request* send = nullptr;
    Request* receive = nullptr;
    ASSERT_TRUE(pair[0].prepare_send(pair.peer(0), data_of(out, type), 0, 1, send).is_done());
    ASSERT_TRUE(pair[1].prepare_receive(data_of(in, type), {0, 0, 1}, receive).is_done());
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int>(i) + round;
      ASSERT_TRUE(pair[1].start(*receive).is_done());
      ASSERT_TRUE(pair[0].start(*send).is_done());
      EXPECT_EQ(pair.wait(1, receive).error, nullptr);
      EXPECT_EQ(pair.wait(0, send).error, nullptr);
      for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(in[i], i % 2 == 0 ? out[i] : -1);
    }
    pair[0].free(*send);
    pair[1].free(*receive);
  }
}

TEST(Message, BeforeItsReceiverConnectsItWaits) {
  providers::StubNetwork network;
  Worker first(network.attach());
  Worker second(network.attach());
  Peer& to_second = first.connect(second.address(), 1);
  std::vector<int> small{1}, in(1);
  auto large = counting<int>(50000);
  std::vector<int> large_in(50000);
  Request *one = nullptr, *two = nullptr, *three = nullptr, *four = nullptr;
  ASSERT_TRUE(first.send(to_second, data_of(small), 0, 1, false, one).is_done());
  ASSERT_TRUE(first.send(to_second, data_of(large), 0, 2, false, two).is_done());
  MessageStatus status;
  for (int i = 0; i < 20; ++i) {
    (void)first.progress();
    EXPECT_FALSE(second.probe({0, any_source, any_tag}, status));
  }
  (void)second.connect(first.address(), 0);
  ASSERT_TRUE(second.receive(data_of(in), {0, 0, 1}, three).is_done());
  ASSERT_TRUE(second.receive(data_of(large_in), {0, 0, 2}, four).is_done());
  Outcome outcome;
  while (!(outcome = second.test(*four)).complete) (void)first.progress();
  EXPECT_EQ(outcome.error, nullptr);
  EXPECT_TRUE(second.test(*three).complete);
  EXPECT_TRUE(first.test(*one).complete);
  EXPECT_EQ(first.wait(*two).error, nullptr);
  EXPECT_EQ(in, small);
  EXPECT_EQ(large_in, large);
}

TEST(Message, BL21_ChunksThatEndInsideElementsAndBlocks) {
  for (std::size_t max_message : sizes({1000, 1001, 8252})) {
    providers::StubOptions options;
    options.limits.max_message = max_message;
    Pair pair(options);
    std::vector<unsigned char> out(500 * 16 + 5000 * 8), in(out.size(), 0);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(i * 7);
    for (const char* type :
         {"vector(1000,3,5,double)", "contiguous(500,struct([1,1],[0,8],[int,uint64_t]))"}) {
      std::fill(in.begin(), in.end(), 0);
      Request* receive = pair.receive(1, data_of(in, type));
      Request* send = pair.send(0, data_of(out, type));
      EXPECT_EQ(pair.wait(1, receive).error, nullptr);
      EXPECT_EQ(pair.wait(0, send).error, nullptr);
      const Layout layout = Layout::of(parse_type(type), 1);
      std::vector<unsigned char> expected(static_cast<std::size_t>(layout.bytes())), got(expected.size());
      pack(layout, out.data(), {0, layout.bytes()}, expected.data());
      pack(layout, in.data(), {0, layout.bytes()}, got.data());
      EXPECT_EQ(got, expected);
    }
    EXPECT_TRUE(pair.network.violations().empty());
  }
}

}  // namespace
}  // namespace lath::transport
