#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "tests/providers/provider_pair.hpp"

/// What is verbs' own, on a device: skipped where there is none.
namespace lath::providers {
namespace {

class Verbs : public ProviderPair {
 protected:
  /// A tagged message of one number from a to b, or an error.
  ::testing::AssertionResult message_passes(std::uint64_t number) {
    std::uint64_t data = number, into = 0;
    const Segment from{&data, 8, registered(*a, &data, 8)}, to{&into, 8, registered(*b, &into, 8)};
    at_a.ended.clear();
    at_b.ended.clear();
    auto posted = post([&] { return b->receive_tagged(to_a, {&to, 1}, number, &into); });
    if (!posted) return posted;
    posted = post([&] { return a->send_tagged(to_b, {&from, 1}, number, &data, 0); });
    if (!posted) return posted;
    auto driven = drive([&] { return at_a.ended.count(&data) == 1 && at_b.ended.count(&into) == 1; });
    if (!driven) return driven;
    if (at_b.ended[&into].error != nullptr)
      return ::testing::AssertionFailure() << at_b.ended[&into].error->what();
    return into == number ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << "wrong bytes";
  }
};

TEST_P(Verbs, TagsMaySendInAnyOrderOneAtATime) {
  // Each send waits for the one before, and the receives were posted the other way round.
  constexpr std::size_t count = 200;
  std::vector<std::uint64_t> data(count), into(count);
  std::iota(data.begin(), data.end(), 100);
  const auto* reading = registered(*a, data.data(), count * 8);
  const auto* writing = registered(*b, into.data(), count * 8);
  for (std::size_t i = 0; i < count; ++i) {
    const Segment to{&into[i], 8, writing};
    ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&to, 1}, i, &into[i]); }));
  }
  for (std::size_t i = count; i-- > 0;) {
    const Segment from{&data[i], 8, reading};
    ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&from, 1}, i, &data[i], 0); }));
    ASSERT_TRUE(drive([&] { return at_a.ended.count(&data[i]) == 1; }));
  }
  ASSERT_TRUE(drive([&] { return at_b.completions == count; }));
  EXPECT_EQ(into, data);
}

TEST_P(Verbs, BothSidesMayKeepEverythingUnderWay) {
  // More each way than queues are deep, posted without waiting for anything.
  constexpr std::size_t count = 300;
  std::vector<std::uint64_t> from_a(count), from_b(count), at_a_side(count), at_b_side(count);
  std::iota(from_a.begin(), from_a.end(), 0);
  std::iota(from_b.begin(), from_b.end(), 5000);
  const auto* a_out = registered(*a, from_a.data(), count * 8);
  const auto* a_in = registered(*a, at_a_side.data(), count * 8);
  const auto* b_out = registered(*b, from_b.data(), count * 8);
  const auto* b_in = registered(*b, at_b_side.data(), count * 8);
  for (std::size_t i = 0; i < count; ++i) {
    const Segment sa{&from_a[i], 8, a_out}, sb{&from_b[i], 8, b_out};
    ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&sa, 1}, i, &from_a[i], 0); }));
    ASSERT_TRUE(post([&] { return b->send_tagged(to_a, {&sb, 1}, i, &from_b[i], 0); }));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Segment ra{&at_a_side[i], 8, a_in}, rb{&at_b_side[i], 8, b_in};
    ASSERT_TRUE(post([&] { return a->receive_tagged(to_b, {&ra, 1}, i, &at_a_side[i]); }));
    ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&rb, 1}, i, &at_b_side[i]); }));
  }
  ASSERT_TRUE(drive([&] { return at_a.completions == 2 * count && at_b.completions == 2 * count; }));
  EXPECT_EQ(at_b_side, from_a);
  EXPECT_EQ(at_a_side, from_b);
}

TEST_P(Verbs, EverySegmentHasItsOwnKey) {
  const std::size_t count = a->limits().send_list;
  std::vector<std::vector<std::byte>> pieces;
  std::vector<Segment> from, to;
  std::vector<std::byte> expected, into(count * 512);
  for (std::size_t i = 0; i < count; ++i) {
    pieces.push_back(numbered_bytes(100 + i, static_cast<unsigned>(i)));
    expected.insert(expected.end(), pieces.back().begin(), pieces.back().end());
  }
  for (auto& piece : pieces)
    from.push_back({piece.data(), piece.size(), registered(*a, piece.data(), piece.size())});
  // The receiving list is cut elsewhere, and has gaps.
  const std::size_t third = expected.size() / 3;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t length = i < 2 ? third : expected.size() - 2 * third;
    std::byte* at = into.data() + i * (third + 100);
    to.push_back({at, length, registered(*b, at, length)});
  }
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, to, 1, &into); }));
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, from, 1, &from, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.completions == 1 && at_b.completions == 1; }));
  std::size_t at = 0;
  for (const Segment& segment : to) {
    EXPECT_EQ(std::memcmp(segment.address, expected.data() + at, segment.length), 0);
    at += segment.length;
  }
}

TEST_P(Verbs, AWrongKeyFailsItsOperationAndNothingElse) {
  std::vector<std::byte> data = numbered_bytes(64, 1), window(64);
  std::unique_ptr<Error> why;
  kept.push_back(b->register_memory(window.data(), window.size(), MemoryKind::host, true, true, why));
  ASSERT_NE(kept.back(), nullptr) << why->what();
  const Registration& exposed = *kept.back();
  const Segment from{data.data(), data.size(), registered(*a, data.data(), data.size())};
  for (std::uint64_t round = 0; round < 3; ++round) {
    const RemoteSegment wrong{exposed.remote_address(), 64, exposed.key() ^ 0x5500};
    ASSERT_TRUE(post([&] { return a->write(to_b, {&from, 1}, {&wrong, 1}, &round, 0); }));
    ASSERT_TRUE(drive([&] { return at_a.ended.count(&round) == 1; }));
    ASSERT_NE(at_a.ended[&round].error, nullptr);
    EXPECT_NE(at_a.ended[&round].error->lath_code(), Code::unreachable);
    ASSERT_TRUE(message_passes(round));
    std::fill(window.begin(), window.end(), std::byte{0});
    at_a.ended.clear();
    const RemoteSegment right{exposed.remote_address(), 64, exposed.key()};
    ASSERT_TRUE(post([&] { return a->write(to_b, {&from, 1}, {&right, 1}, &round, 0); }));
    ASSERT_TRUE(drive([&] { return at_a.ended.count(&round) == 1; }));
    ASSERT_EQ(at_a.ended[&round].error, nullptr) << at_a.ended[&round].error->what();
    EXPECT_EQ(window, data);
    at_a.ended.clear();
  }
  EXPECT_TRUE(at_a.unreachable.empty());
  EXPECT_TRUE(at_b.unreachable.empty());
}

TEST_P(Verbs, ReadOnlyRegistrationsAreNotWritten) {
  std::vector<std::byte> data = numbered_bytes(64, 1), window(64);
  std::unique_ptr<Error> why;
  kept.push_back(b->register_memory(window.data(), window.size(), MemoryKind::host, false, true, why));
  ASSERT_NE(kept.back(), nullptr) << why->what();
  const Segment own{data.data(), data.size(), registered(*a, data.data(), data.size())};
  const RemoteSegment remote{kept[0]->remote_address(), 64, kept[0]->key()};
  ASSERT_TRUE(post([&] { return a->write(to_b, {&own, 1}, {&remote, 1}, &data, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.ended.count(&data) == 1; }));
  EXPECT_NE(at_a.ended[&data].error, nullptr);
  EXPECT_EQ(window, std::vector<std::byte>(64));
  ASSERT_TRUE(post([&] { return a->read(to_b, {&own, 1}, {&remote, 1}, &window, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.ended.count(&window) == 1; }));
  EXPECT_EQ(at_a.ended[&window].error, nullptr);
  EXPECT_EQ(data, window);
}

TEST_P(Verbs, AWorkerConnectsAgainToAPeerThatCameBack) {
  ASSERT_TRUE(message_passes(1));
  kept.clear();
  b.reset();
  ASSERT_TRUE(drive([&] { return at_a.unreachable.count(to_b) == 1; }));
  a->disconnect(to_b);
  b = make();
  to_b = a->connect(b->address());
  to_a = b->connect(a->address());
  EXPECT_TRUE(message_passes(2));
}

TEST_P(Verbs, DisconnectedPeersConnectAgain) {
  ASSERT_TRUE(message_passes(1));
  a->disconnect(to_b);
  ASSERT_TRUE(drive([&] { return at_b.unreachable.count(to_a) == 1; }));
  b->disconnect(to_a);
  to_b = a->connect(b->address());
  to_a = b->connect(a->address());
  EXPECT_TRUE(message_passes(2));
}

TEST_P(Verbs, WhatWasAcceptedArrivesBeforeTheProviderCloses) {
  std::uint64_t number = 42;
  const Segment segment{&number, 8, nullptr};
  ASSERT_TRUE(post([&] { return a->send(to_b, {&segment, 1}, nullptr, 0); }));
  // As many as the queue takes.
  std::size_t sent = 1;
  while (a->send(to_b, {&segment, 1}, nullptr, 0).is_done()) ++sent;
  a.reset();
  ASSERT_TRUE(drive([&] { return at_b.unreachable.count(to_a) == 1; }));
  EXPECT_EQ(at_b.messages.size(), sent);
}

TEST_P(Verbs, BL48_AFloodOfSendsIsBounded) {
  constexpr std::size_t count = 20000;
  std::vector<std::uint32_t> block(3, 7);
  const auto* reading = registered(*a, block.data(), 12);
  const std::vector<Segment> list{{&block[0], 4, reading}, {&block[1], 4, reading}, {&block[2], 4, reading}};
  ASSERT_TRUE(message_passes(1));
  at_a.completions = 0;
  const std::size_t before = a->memory_bytes();
  std::size_t refused = 0;
  for (std::size_t sent = 0; sent < count;) {
    const Result result = a->send(to_b, list, &block, 0);
    ASSERT_FALSE(result.is_error()) << result.error().what();
    if (result.is_done()) {
      ++sent;
      continue;
    }
    ++refused;
    (void)a->poll(at_a);
    (void)b->poll(at_b);
  }
  ASSERT_TRUE(drive([&] { return at_b.messages.size() == count && at_a.completions == count; }));
  EXPECT_GT(refused, 0U);
  EXPECT_LE(a->memory_bytes(), before);
}

TEST_P(Verbs, BL46_AForkedChildKeepsTheOtherHalfOfARegisteredPage) {
  auto* page = static_cast<std::byte*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(page, MAP_FAILED);
  std::memset(page, 1, 4096);
  const Segment from{page, 2048, registered(*a, page, 2048)};
  std::vector<std::byte> into(2048);
  const Segment to{into.data(), into.size(), registered(*b, into.data(), into.size())};
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::memset(page, 9, 4096);
    _exit(page[4095] == std::byte{9} ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::memset(page, 2, 4096);
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&to, 1}, 1, &into); }));
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&from, 1}, 1, page, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.completions == 1 && at_b.completions == 1; }));
  EXPECT_EQ(into, std::vector<std::byte>(2048, std::byte{2}));
  kept.clear();
  munmap(page, 4096);
}

TEST_P(Verbs, ManyDoorbellsAreOneBatch) {
  std::vector<std::byte> data(64);
  ASSERT_TRUE(message_passes(3));
  const Counters before = a->counters();
  const Segment segment{data.data(), data.size(), registered(*a, data.data(), data.size())};
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(post([&] {
      return a->send(to_b, {&segment, 1}, &data[static_cast<std::size_t>(i)], i < 7 ? more : 0);
    }));
  ASSERT_TRUE(drive([&] { return at_b.messages.size() == 8; }));
  EXPECT_EQ(a->counters().doorbells - before.doorbells, 1U);
  EXPECT_EQ(a->counters().work_requests - before.work_requests, 8U);
}

INSTANTIATE_TEST_SUITE_P(Providers, Verbs, testing::Values("verbs"), provider_name);

}  // namespace
}  // namespace lath::providers
