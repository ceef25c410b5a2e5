#include <sys/mman.h>

#include <cstring>

#include "tests/providers/provider_pair.hpp"

/// What every provider must do, run on each that this machine offers.
namespace lath::providers {
namespace {

class ProviderSuite : public ProviderPair {};
/// What the stub cannot show, or records as a breach of the contract.
class LibfabricSuite : public ProviderPair {};

constexpr std::uint64_t tag = 0x1234;

TEST_P(ProviderSuite, MessagesOfEverySizeArriveWhole) {
  const Limits& limits = a->limits();
  std::vector<std::size_t> sizes = {
      1, 8, limits.inject_bytes, limits.inject_bytes + 1, 4096, limits.max_control};
  for (const std::size_t size : sizes) {
    if (size == 0) continue;
    std::vector<std::byte> data = numbered_bytes(size, 1);
    const Segment segment{data.data(), size, registered(*a, data.data(), size)};
    at_b.messages.clear();
    at_a.ended.clear();
    ASSERT_TRUE(post([&] { return a->send(to_b, {&segment, 1}, &data, 0); }));
    ASSERT_TRUE(drive([&] { return at_b.messages.size() == 1 && at_a.ended.count(&data) == 1; }));
    EXPECT_EQ(at_b.messages[0], data) << size << " bytes";
    EXPECT_EQ(at_a.ended[&data].times, 1U);
    EXPECT_EQ(at_a.ended[&data].error, nullptr);
  }
}

TEST_P(ProviderSuite, InjectedMemoryIsFreeOnReturn) {
  const std::size_t size = std::min<std::size_t>(a->limits().inject_bytes, 32);
  if (size < 4) GTEST_SKIP() << GetParam() << " injects nothing";
  std::vector<std::byte> data = numbered_bytes(size, 2);
  const std::vector<std::byte> expected = data;
  const std::vector<Segment> list = split(data, std::min<std::size_t>(a->limits().send_list, 3), nullptr);
  ASSERT_TRUE(post([&] { return a->send(to_b, list, nullptr, 0); }));
  std::fill(data.begin(), data.end(), std::byte{0xee});
  ASSERT_TRUE(drive([&] { return !at_b.messages.empty(); }));
  EXPECT_EQ(at_b.messages[0], expected);
  EXPECT_EQ(at_a.completions, 0U);
}

TEST_P(ProviderSuite, BL44_AnEmptyMessageHasAnEmptyList) {
  int sent = 0, tagged = 0, received = 0;
  ASSERT_TRUE(post([&] { return a->send(to_b, {}, &sent, 0); }));
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {}, tag, &received); }));
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {}, tag, &tagged, 0); }));
  ASSERT_TRUE(
      drive([&] { return at_a.completions == 2 && at_b.completions == 1 && !at_b.messages.empty(); }));
  EXPECT_TRUE(at_b.messages[0].empty());
  EXPECT_EQ(at_b.ended[&received].bytes, 0U);
  EXPECT_EQ(at_b.ended[&received].error, nullptr);
}

TEST_P(ProviderSuite, BL43_ListsOfEveryLengthUpToTheLimits) {
  constexpr std::size_t size = 10007;
  std::vector<std::byte> data = numbered_bytes(size, 3);
  std::vector<std::byte> into(size);
  const auto* reading = registered(*a, data.data(), size);
  const auto* writing = registered(*b, into.data(), size);
  for (std::size_t send = 1; send <= a->limits().send_list; ++send)
    for (std::size_t receive = 1; receive <= b->limits().receive_list; ++receive) {
      std::fill(into.begin(), into.end(), std::byte{0});
      at_a.ended.clear();
      at_b.ended.clear();
      const auto from = split(data, send, reading);
      const auto to = split(into, receive, writing);
      ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, to, tag, &into); }));
      ASSERT_TRUE(post([&] { return a->send_tagged(to_b, from, tag, &data, 0); }));
      ASSERT_TRUE(drive([&] { return at_a.ended.count(&data) == 1 && at_b.ended.count(&into) == 1; }));
      EXPECT_EQ(at_b.ended[&into].bytes, size);
      ASSERT_EQ(into, data) << send << " segments into " << receive;
    }
}

TEST_P(ProviderSuite, BL43_ThirtyOneBlocksTakeCeilingOfLimitWorkRequests) {
  constexpr std::size_t blocks = 31, block = 16;
  std::vector<std::byte> data = numbered_bytes(blocks * block * 2, 4);
  std::vector<std::byte> into(blocks * block);
  const auto* reading = registered(*a, data.data(), data.size());
  const auto* writing = registered(*b, into.data(), into.size());
  const std::size_t limit = a->limits().send_list;
  const std::uint64_t before = a->counters().work_requests;
  std::size_t posts = 0;
  for (std::size_t first = 0; first < blocks; first += limit, ++posts) {
    const std::size_t count = std::min(limit, blocks - first);
    std::vector<Segment> list;
    for (std::size_t i = first; i < first + count; ++i)
      list.push_back({data.data() + i * block * 2, block, reading});
    const Segment target{into.data() + first * block, count * block, writing};
    ASSERT_TRUE(post([&] {
      return b->receive_tagged(to_a, {&target, 1}, tag + posts, into.data() + first);
    }));
    ASSERT_TRUE(post([&] {
      return a->send_tagged(to_b, list, tag + posts, data.data() + first, first + count < blocks ? more : 0);
    }));
  }
  ASSERT_TRUE(drive([&] { return at_a.completions == posts && at_b.completions == posts; }));
  EXPECT_EQ(a->counters().work_requests - before, (blocks + limit - 1) / limit);
  for (std::size_t i = 0; i < blocks; ++i)
    EXPECT_EQ(std::memcmp(into.data() + i * block, data.data() + i * block * 2, block), 0) << "block " << i;
}

TEST_P(ProviderSuite, TaggedMessagesOfOneTagMatchInPostingOrder) {
  constexpr std::size_t count = 20, size = 3000;
  std::vector<std::byte> data = numbered_bytes(count * size, 5);
  std::vector<std::byte> into(count * size);
  const auto* reading = registered(*a, data.data(), data.size());
  const auto* writing = registered(*b, into.data(), into.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Segment target{into.data() + i * size, size, writing};
    ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&target, 1}, tag, target.address); }));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Segment source{data.data() + i * size, size, reading};
    ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&source, 1}, tag, source.address, 0); }));
  }
  ASSERT_TRUE(drive([&] { return at_a.completions == count && at_b.completions == count; }));
  EXPECT_EQ(into, data);
}

TEST_P(ProviderSuite, TagsKeepMessagesApart) {
  std::array<std::uint32_t, 2> data{11, 22}, into{};
  const std::array<std::uint64_t, 2> tags{a->limits().tag_mask, a->limits().tag_mask >> 1};
  const auto* reading = registered(*a, data.data(), sizeof data);
  const auto* writing = registered(*b, into.data(), sizeof into);
  for (const std::size_t i : {0U, 1U}) {
    const Segment target{&into[i], 4, writing};
    ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&target, 1}, tags[i], &into[i]); }));
  }
  for (const std::size_t i : {1U, 0U}) {
    const Segment source{&data[i], 4, reading};
    ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&source, 1}, tags[i], &data[i], 0); }));
  }
  ASSERT_TRUE(drive([&] { return at_a.completions == 2 && at_b.completions == 2; }));
  EXPECT_EQ(into, data);
}

TEST_P(ProviderSuite, LargeTaggedMessage) {
  const std::size_t size = std::min<std::size_t>(a->limits().max_message, 9 << 20);
  std::vector<std::byte> data = numbered_bytes(size, 6);
  std::vector<std::byte> into(size);
  const Segment from{data.data(), size, registered(*a, data.data(), size)};
  const Segment to{into.data(), size, registered(*b, into.data(), size)};
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&to, 1}, tag, &into); }));
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&from, 1}, tag, &data, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.completions == 1 && at_b.completions == 1; }));
  EXPECT_TRUE(into == data);
}

TEST_P(ProviderSuite, ALongerTaggedMessageIsTruncated) {
  std::vector<std::byte> data = numbered_bytes(100, 7);
  std::vector<std::byte> into(100, std::byte{0xcc});
  const auto* reading = registered(*a, data.data(), data.size());
  const auto* writing = registered(*b, into.data(), into.size());
  const Segment from{data.data(), 100, reading};
  const Segment short_to{into.data(), 60, writing};
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&short_to, 1}, tag, &into); }));
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&from, 1}, tag, &data, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.completions == 1 && at_b.completions == 1; }));
  ASSERT_NE(at_b.ended[&into].error, nullptr);
  EXPECT_EQ(at_b.ended[&into].error->lath_code(), Code::truncated);
  EXPECT_EQ(into[60], std::byte{0xcc}) << "written beyond the receive";
  // Over tcp, which carries for the stand-in for cxi, too, libfabric 1.17 ends the connection; elsewhere
  // later messages are unharmed.
  if (GetParam() == "ofi:tcp" || GetParam() == "ofi:cxi") return;
  int received = 0;
  const Segment to{into.data(), 100, writing};
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&to, 1}, tag, &received); }));
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&from, 1}, tag, &data, 0); }));
  ASSERT_TRUE(drive([&] { return at_b.ended.count(&received) == 1; }));
  EXPECT_EQ(into, data);
}

TEST_P(ProviderSuite, CancelEndsAnUnmatchedReceiveOnce) {
  std::array<std::uint32_t, 2> into{};
  const auto* writing = registered(*b, into.data(), sizeof into);
  const Segment first{&into[0], 4, writing}, second{&into[1], 4, writing};
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&first, 1}, tag, &into[0]); }));
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&second, 1}, tag + 1, &into[1]); }));
  b->cancel(&into[0]);
  ASSERT_TRUE(drive([&] { return at_b.ended.count(&into[0]) == 1; }));
  ASSERT_NE(at_b.ended[&into[0]].error, nullptr);
  EXPECT_EQ(at_b.ended[&into[0]].error->lath_code(), Code::cancelled);
  std::uint32_t data = 77;
  const Segment from{&data, 4, registered(*a, &data, 4)};
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&from, 1}, tag + 1, &data, 0); }));
  ASSERT_TRUE(drive([&] { return at_b.ended.count(&into[1]) == 1; }));
  EXPECT_EQ(into[1], 77U);
  EXPECT_EQ(at_b.ended[&into[0]].times, 1U);
  b->cancel(&data);  // of nothing
}

TEST_P(ProviderSuite, RemoteWriteAndRead) {
  if (!a->limits().rma) GTEST_SKIP() << GetParam() << " has no RMA";
  constexpr std::size_t size = 5003;
  std::vector<std::byte> data = numbered_bytes(size, 8);
  std::vector<std::byte> window(size + 64);
  std::unique_ptr<Error> why;
  kept.push_back(b->register_memory(window.data(), window.size(), MemoryKind::host, true, true, why));
  ASSERT_NE(kept.back(), nullptr) << why->what();
  const Registration& exposed = *kept.back();
  const auto* own = registered(*a, data.data(), size);
  for (std::size_t local = 1; local <= a->limits().rma_local_list; ++local) {
    std::fill(window.begin(), window.end(), std::byte{0});
    at_a.ended.clear();
    const auto list = split(data, local, own);
    const RemoteSegment remote{exposed.remote_address() + 64, size, exposed.key()};
    ASSERT_TRUE(post([&] { return a->write(to_b, list, {&remote, 1}, &data, 0); }));
    ASSERT_TRUE(drive([&] { return at_a.ended.count(&data) == 1; }));
    ASSERT_EQ(at_a.ended[&data].error, nullptr) << at_a.ended[&data].error->what();
    ASSERT_EQ(std::memcmp(window.data() + 64, data.data(), size), 0) << local << " segments";

    std::vector<std::byte> back(size);
    const auto into = split(back, local, registered(*a, back.data(), size));
    ASSERT_TRUE(post([&] { return a->read(to_b, into, {&remote, 1}, &back, 0); }));
    ASSERT_TRUE(drive([&] { return at_a.ended.count(&back) == 1; }));
    ASSERT_EQ(back, data) << local << " segments";
  }
  EXPECT_EQ(window[63], std::byte{0});
}

TEST_P(ProviderSuite, ABatchOfWritesHasOneCompletion) {
  if (!a->limits().batched_writes) GTEST_SKIP() << GetParam() << " has no batches";
  // More blocks than the queue holds, so that a batch is answered again within.
  const std::size_t blocks = std::min<std::size_t>(a->limits().queue_depth * 2, 6000);
  std::vector<std::byte> data = numbered_bytes(blocks * 8, 8), window(blocks * 16);
  std::unique_ptr<Error> why;
  kept.push_back(b->register_memory(window.data(), window.size(), MemoryKind::host, true, true, why));
  ASSERT_NE(kept.back(), nullptr) << why->what();
  const Registration& exposed = *kept.back();
  const auto* own = registered(*a, data.data(), data.size());
  int first = 0, second = 0;
  for (const std::size_t count : {blocks, std::size_t{1}}) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      const Segment from{data.data() + i * 8, 8, own};
      const RemoteSegment to{exposed.remote_address() + i * 16, 8, exposed.key()};
      Context context = last ? (count == 1 ? &second : &first) : nullptr;
      ASSERT_TRUE(post([&] { return a->write(to_b, {&from, 1}, {&to, 1}, context, last ? 0 : more); }));
    }
  }
  ASSERT_TRUE(drive([&] { return at_a.completions == 2; }));
  EXPECT_EQ(at_a.ended[&first].error, nullptr);
  for (std::size_t i = 0; i < blocks; ++i)
    ASSERT_EQ(std::memcmp(window.data() + i * 16, data.data() + i * 8, 8), 0) << "block " << i;
  const Segment from{data.data(), 8, own};
  const RemoteSegment to{exposed.remote_address(), 8, exposed.key()};
  EXPECT_TRUE(a->write(to_b, {&from, 1}, {&to, 1}, nullptr, 0).is_error()) << "nothing would end the batch";
}

TEST_P(ProviderSuite, BL43_AFullQueueAnswersAgainAndEveryOperationEndsOnce) {
  const std::size_t count = std::min<std::size_t>(a->limits().queue_depth * 3, 6000);
  std::vector<std::uint64_t> numbers(count);
  const auto* reading = registered(*a, numbers.data(), count * 8);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = i;
    const Segment segment{&numbers[i], 8, reading};
    // Without polling as long as the provider takes it.
    Result result = a->send(to_b, {&segment, 1}, &numbers[i], 0);
    ASSERT_FALSE(result.is_error()) << result.error().what();
    if (result.is_done()) continue;
    ++refused;
    ASSERT_TRUE(post([&] { return a->send(to_b, {&segment, 1}, &numbers[i], 0); }));
  }
  ASSERT_TRUE(drive([&] { return at_b.messages.size() == count && at_a.completions == count; }));
  EXPECT_GT(refused, 0U);
  std::vector<bool> seen(count);
  for (const auto& message : at_b.messages) {
    std::uint64_t number = 0;
    ASSERT_EQ(message.size(), 8U);
    std::memcpy(&number, message.data(), 8);
    ASSERT_LT(number, count);
    EXPECT_FALSE(seen[number]) << number << " twice";
    seen[number] = true;
  }
  for (const auto& [context, end] : at_a.ended) EXPECT_EQ(end.times, 1U);
}

// A device may hold back what is posted with `more` until something follows, which a full queue refuses.
TEST_P(ProviderSuite, BL43_AQueueFullOfOperationsWithMoreMovesOn) {
  const std::size_t most = std::min<std::size_t>(a->limits().queue_depth * 2, 6000);
  std::vector<std::uint64_t> numbers(most);
  const auto* reading = registered(*a, numbers.data(), most * 8);
  std::size_t count = 0;
  for (bool taken = true; taken && count < most; count += taken ? 1 : 0) {
    const Segment segment{&numbers[count], 8, reading};
    Result result = a->send(to_b, {&segment, 1}, &numbers[count], more);
    ASSERT_FALSE(result.is_error()) << result.error().what();
    taken = result.is_done();
  }
  const Segment segment{&numbers[0], 8, reading};
  ASSERT_TRUE(post([&] { return a->send(to_b, {&segment, 1}, &count, 0); }));
  ASSERT_TRUE(drive([&] { return at_b.messages.size() == count + 1 && at_a.completions == count + 1; }));
}

TEST_P(ProviderSuite, OperationsMayBePostedFromWithinEvents) {
  std::uint64_t ping = 1;
  const Segment segment{&ping, 8, registered(*a, &ping, 8)};
  const Segment answer{&ping, 8, registered(*b, &ping, 8)};
  std::size_t answered = 0;
  at_b.inside = [&] {
    if (at_b.messages.size() > answered && b->send(to_a, {&answer, 1}, &answered, 0).is_done()) ++answered;
  };
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(post([&] { return a->send(to_b, {&segment, 1}, &ping, 0); }));
  ASSERT_TRUE(drive([&] {
    at_b.inside();  // what was refused while the connection was being made
    return at_a.messages.size() == 10;
  }));
}

TEST_P(ProviderSuite, MessagesToItself) {
  const PeerId self = a->connect(a->address());
  std::uint64_t value = 9;
  const Segment segment{&value, 8, registered(*a, &value, 8)};
  ASSERT_TRUE(post([&] { return a->send(self, {&segment, 1}, &value, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.messages.size() == 1 && at_a.completions == 1; }));
  a->disconnect(self);
}

TEST_P(ProviderSuite, AWrongAddressIsRefusedWithItsFault) {
  std::vector<std::byte> address = b->address();
  const auto code = [&](std::span<const std::byte> bytes) {
    try {
      a->connect(bytes);
      return Code::internal;
    } catch (const Error& error) {
      EXPECT_GT(std::strlen(error.what()), 10U);
      return error.lath_code();
    }
  };
  EXPECT_EQ(code({}), Code::invalid_argument);
  for (std::size_t length = 1; length < address.size(); ++length)
    EXPECT_EQ(code(std::span(address).first(length)), Code::invalid_argument) << length << " bytes";
  address.push_back(std::byte{1});
  EXPECT_EQ(code(address), Code::invalid_argument);
  address.assign(address.size(), std::byte{0x5a});
  EXPECT_EQ(code(address), Code::invalid_argument);
}

TEST_P(LibfabricSuite, AnUnconnectedPeerIsAnErrorOfThatOperation) {
  std::uint64_t value = 5;
  const Segment segment{&value, 8, nullptr};
  EXPECT_TRUE(a->send(77, {&segment, 1}, &value, 0).is_error());
  EXPECT_TRUE(a->receive_tagged(77, {&segment, 1}, tag, &value).is_error());
}

TEST_P(ProviderSuite, CountersTellOperationsAndBytes) {
  const Counters before = a->counters();
  std::vector<std::byte> data = numbered_bytes(24, 1);
  const Segment segment{data.data(), 24, registered(*a, data.data(), 24)};
  const std::uint64_t registrations = a->counters().registrations - before.registrations;
  ASSERT_TRUE(post([&] { return a->send(to_b, {&segment, 1}, &data, more); }));
  ASSERT_TRUE(post([&] { return a->send(to_b, {&segment, 1}, data.data(), 0); }));
  EXPECT_EQ(a->counters().work_requests - before.work_requests, 2U);
  EXPECT_EQ(a->counters().doorbells - before.doorbells, 1U);
  EXPECT_EQ(a->counters().wire_bytes - before.wire_bytes, 48U);
  EXPECT_EQ(registrations, a->limits().local_registration ? 1U : 0U);
  EXPECT_GT(a->memory_bytes(), 0U);
  ASSERT_TRUE(drive([&] { return at_b.messages.size() == 2 && at_a.completions == 2; }));
}

TEST_P(ProviderSuite, BL45_SendsFromReadOnlyMemory) {
  constexpr std::size_t size = std::size_t{1} << 20;
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const std::vector<std::byte> expected = numbered_bytes(size, 9);
  std::memcpy(pages, expected.data(), size);
  ASSERT_EQ(mprotect(pages, size, PROT_READ), 0);
  std::vector<std::byte> into(size);
  std::unique_ptr<Error> why;
  kept.push_back(a->register_memory(pages, size, MemoryKind::host, false, false, why));
  ASSERT_NE(kept.back(), nullptr) << why->what();
  const Segment from{pages, size, kept.back().get()};
  const Segment to{into.data(), size, registered(*b, into.data(), size)};
  ASSERT_TRUE(post([&] { return b->receive_tagged(to_a, {&to, 1}, tag, &into); }));
  ASSERT_TRUE(post([&] { return a->send_tagged(to_b, {&from, 1}, tag, pages, 0); }));
  ASSERT_TRUE(drive([&] { return at_a.completions == 1 && at_b.completions == 1; }));
  EXPECT_TRUE(into == expected);
  kept.clear();
  munmap(pages, size);
}

TEST_P(LibfabricSuite, BL49_EmptyAndNullRangesAreNotRegistered) {
  std::unique_ptr<Error> why;
  int value = 0;
  EXPECT_EQ(a->register_memory(&value, 0, MemoryKind::host, true, false, why), nullptr);
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(a->register_memory(nullptr, 64, MemoryKind::host, true, true, why), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Providers, ProviderSuite,
                         testing::Values("stub", "ofi:tcp", "ofi:shm", "ofi:cxi", "verbs", "ucx:shm",
                                         "ucx:tcp"),
                         provider_name);
INSTANTIATE_TEST_SUITE_P(Providers, LibfabricSuite,
                         testing::Values("ofi:tcp", "ofi:shm", "ofi:cxi", "verbs", "ucx:shm", "ucx:tcp"),
                         provider_name);

}  // namespace
}  // namespace lath::providers
