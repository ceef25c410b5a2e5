#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <random>

#include "base/config.hpp"
#include "tests/transport/exchange.hpp"

namespace lath::transport {
namespace {

TEST(Fault, BL41_RegistrationRefusedAtEveryNumber) {
  for (std::uint64_t number = 1; number <= 12; ++number) {
    providers::StubNetwork* network = nullptr;
    providers::StubOptions options;
    options.limits.local_registration = true;
    options.failing_registrations = {number};
    Pair pair(options);
    network = &pair.network;
    for (std::size_t count : {std::size_t{1000}, std::size_t{700000}}) {
      auto out = counting<int>(count * 2);
      std::vector<int> in(count * 2, -1);
      const std::string type = "vector(" + std::to_string(count / 100) + ",100,200,int)";
      for (const auto& [sending, receiving] :
           {std::pair{data_of(out), data_of(in)}, std::pair{data_of(out, type), data_of(in, type)}}) {
        std::fill(in.begin(), in.end(), -1);
        Request* receive = pair.receive(1, receiving);
        Request* send = pair.send(0, sending);
        const Outcome outcome = pair.wait(1, receive);
        ASSERT_EQ(outcome.error, nullptr) << number << ": " << outcome.error->what();
        ASSERT_EQ(pair.wait(0, send).error, nullptr);
        ASSERT_EQ(in[0], 1);
        ASSERT_EQ(in[200], out[200]);
      }
    }
    EXPECT_TRUE(network->violations().empty());
    pair.destroy(0);
    pair.destroy(1);
    EXPECT_EQ(network->registrations(), 0U) << number;
  }
}

TEST(Fault, BL43_ListLimits) {
  auto out = counting<int>(31 * 4000);
  std::vector<int> in(out.size(), -1);
  for (std::size_t limit : {std::size_t{1}, std::size_t{4}, std::size_t{14}, std::size_t{30}}) {
    setenv("LATH_SCHEME", "gather", 1);
    config::reload();
    providers::StubOptions options;
    options.limits.send_list = options.limits.receive_list = limit;
    Pair pair(options);
    unsetenv("LATH_SCHEME");
    config::reload();
    const Counters before = pair[0].counters();
    std::fill(in.begin(), in.end(), -1);
    Request* receive = pair.receive(1, data_of(in, "vector(31,2000,4000,int)"));
    Request* send = pair.send(0, data_of(out, "vector(31,2000,4000,int)"));
    EXPECT_EQ(pair.wait(1, receive).error, nullptr);
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(in[i], i % 4000 < 2000 ? out[i] : -1);
    const Counters after = pair[0].counters();
    EXPECT_EQ(after.messages - before.messages, 1U);
    EXPECT_EQ(after.segments - before.segments, 31U);
    // The RTS, and the data.
    if (limit > 1) {
      EXPECT_EQ(after.work_requests - before.work_requests, 1 + (31 + limit - 1) / limit);
      EXPECT_EQ(after.pack_copies, before.pack_copies);
    }
    const auto violations = pair.network.violations();
    EXPECT_TRUE(violations.empty()) << violations.front();
  }
  read_tuning();
}

TEST(Fault, BL44_NoEmptyEntryReachesTheProvider) {
  Pair pair;
  std::vector<unsigned char> out(64, 3), in(64, 0);
  const char* type = "indexed([0,8,0,8],[0,4,20,24],byte)";
  setenv("LATH_SCHEME", "gather", 1);
  config::reload();
  Pair forced;
  unsetenv("LATH_SCHEME");
  config::reload();
  for (Pair* tested : {&forced, &pair}) {
    Request* receive = tested->receive(1, data_of(in, type));
    Request* send = tested->send(0, data_of(out, type));
    EXPECT_EQ(tested->wait(1, receive).error, nullptr);
    EXPECT_EQ(tested->wait(0, send).error, nullptr);
    EXPECT_EQ(in[4], 3);
    EXPECT_EQ(in[12], 0);
    EXPECT_TRUE(tested->network.violations().empty());
  }
  read_tuning();
}

TEST(Fault, BL45_SendsFromReadOnlyMemory) {
  const std::size_t bytes = std::size_t{1} << 20;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::fill_n(static_cast<int*>(memory), bytes / 4, 42);
  ASSERT_EQ(mprotect(memory, bytes, PROT_READ), 0);
  for (bool registration : {false, true}) {
    providers::StubOptions options;
    options.limits.local_registration = registration;
    Pair pair(options);
    std::vector<int> in(64 * 1024);
    Request* receive = pair.receive(1, data_of(in));
    Request* send = pair.send(0, Data::of(memory, Layout::of(parse_type("vector(1024,64,128,int)"), 1)));
    const Outcome outcome = pair.wait(1, receive);
    EXPECT_EQ(outcome.error, nullptr) << outcome.error->what();
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    EXPECT_EQ(in, std::vector<int>(in.size(), 42));
  }
  munmap(memory, bytes);
}

TEST(Fault, BL48_ManySendsBeforeAnyReceive) {
  constexpr int count = 100000;
  providers::StubOptions options;
  options.limits.queue_depth = 64;
  Pair pair(options);
  auto out = counting<int>(32);
  std::vector<Request*> sends;
  sends.reserve(2 * count);
  for (int i = 0; i < count; ++i)
    for (std::size_t from : {0U, 1U}) {
      sends.push_back(pair.send(from, data_of(out, "indexed([2,1,2],[0,5,9],int)"), i % 1000));
      ASSERT_NE(sends.back(), nullptr);
    }
  for (int i = 0; i < 20000; ++i) pair.progress();
  for (std::size_t at : {0U, 1U}) {
    const std::size_t bound = std::size_t{count} * (sizeof(Request) + sizeof(Envelope) + 64) + (32U << 20);
    EXPECT_LE(pair[at].memory_bytes(), bound);
  }
  std::vector<int> in(5);
  for (int i = 0; i < count; ++i)
    for (std::size_t at : {0U, 1U}) {
      const Outcome outcome =
          pair.wait(at, pair.receive(at, data_of(in), i % 1000, 1 - static_cast<int>(at)));
      ASSERT_EQ(outcome.error, nullptr);
      ASSERT_EQ(in, (std::vector<int>{1, 2, 6, 10, 11}));
    }
  for (std::size_t i = 0; i < sends.size(); ++i) ASSERT_EQ(pair.wait(i % 2, sends[i]).error, nullptr);
  EXPECT_TRUE(pair.network.violations().empty());
}

TEST(Fault, HolesOfATypeNeedNotBeMapped) {
  Pair pair;
  const long page = 4096;
  auto* memory = static_cast<char*>(
      mmap(nullptr, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(memory + 10 * page, 10 * page);
  std::fill_n(memory, 9 * page, 'x');
  const Data data = Data::of(memory, Layout::of(parse_type("vector(2,36864,131072,char)"), 1));
  std::vector<char> in(2 * 36864);
  Request* receive = pair.receive(1, data_of(in));
  Request* send = pair.send(0, data);
  EXPECT_EQ(pair.wait(1, receive).error, nullptr);
  EXPECT_EQ(pair.wait(0, send).error, nullptr);
  EXPECT_EQ(in[100], 'x');
}

TEST(Fault, LostPeerFailsItsRequestsAndNoOthers) {
  providers::StubNetwork network;
  Worker first(network.attach()), second(network.attach());
  auto third = std::make_unique<Worker>(network.attach());
  Peer& to_second = first.connect(second.address(), 2);
  Peer& to_third = first.connect(third->address(), 3);
  (void)second.connect(first.address(), 1);
  (void)third->connect(first.address(), 1);
  auto large = counting<int>(100000);
  std::vector<int> large_in(large.size()), in(4), small = counting<int>(4);
  Request *send = nullptr, *receive = nullptr, *any = nullptr;
  ASSERT_TRUE(first.send(to_third, data_of(large), 0, 1, false, send).is_done());
  ASSERT_TRUE(first.receive(data_of(large_in), {0, 3, 2}, receive).is_done());
  ASSERT_TRUE(first.receive(data_of(in), {0, any_source, 9}, any).is_done());
  network.kill(WorkerAddress::decode(third->address()).provider_address);
  Request* doomed = nullptr;
  Result result = first.send(to_third, data_of(small), 0, 1, false, doomed);
  const Outcome sent = first.wait(*send);
  ASSERT_NE(sent.error, nullptr);
  EXPECT_EQ(sent.error->lath_code(), Code::unreachable);
  EXPECT_NE(std::string(sent.error->what()).find("peer 3"), std::string::npos) << sent.error->what();
  const Outcome received = first.wait(*receive);
  ASSERT_NE(received.error, nullptr);
  EXPECT_EQ(received.error->lath_code(), Code::unreachable);
  result = first.send(to_third, data_of(small), 0, 1, false, doomed);
  ASSERT_TRUE(result.is_error());
  EXPECT_EQ(result.error().lath_code(), Code::unreachable);
  ASSERT_TRUE(first.send(to_second, data_of(small), 0, 9, false, send).is_done());
  std::vector<int> there(4);
  Request* at_second = nullptr;
  ASSERT_TRUE(second.receive(data_of(there), {0, 1, 9}, at_second).is_done());
  Outcome outcome;
  while (!(outcome = second.test(*at_second)).complete) (void)first.progress();
  EXPECT_EQ(outcome.error, nullptr);
  EXPECT_EQ(there, small);
}

TEST(Fault, ABrokenProviderFailsEveryRequest) {
  for (std::uint64_t polls : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{4}}) {
    providers::StubOptions broken;
    broken.polls_before_broken = polls;
    auto large = counting<int>(1000000);
    std::vector<int> large_in(large.size()), in(4), any(4);
    // Goes first: what a broken provider still holds, it may write until it is closed.
    Pair pair(broken, {});
    std::vector<Request*> requests{pair.send(0, data_of(large)), pair.receive(0, data_of(large_in), 5),
                                   pair.receive(0, data_of(in), 6, 1), pair.receive(0, data_of(any), 7)};
    (void)pair.send(1, data_of(large), 5);
    for (Request* request : requests) {
      const Outcome outcome = pair.wait(0, request);
      ASSERT_NE(outcome.error, nullptr) << polls;
      EXPECT_NE(std::string(outcome.error->what()).find("breakdown"), std::string::npos)
          << outcome.error->what();
    }
  }
}

TEST(Fault, DestroyedWithOutstandingRequests) {
  Pair pair;
  auto large = counting<int>(100000);
  std::vector<int> in(large.size());
  for (int i = 0; i < 50; ++i) {
    (void)pair.send(0, data_of(large), i);
    (void)pair.receive(1, data_of(in), i);
    if (i % 7 == 0) pair.progress();
  }
  pair.destroy(0);
  pair.destroy(1);
  EXPECT_EQ(pair.network.registrations(), 0U);
}

class CorruptExchange : public testing::TestWithParam<int> {};

// Whatever a message is turned into, nothing crashes. Requests may fail, or wait for what was lost.
TEST_P(CorruptExchange, NothingCrashes) {
  Pair pair;
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  pair.network.on_delivery([&](std::uint64_t, std::vector<std::byte>& bytes) {
    if (random() % 4 != 0) return;
    if (random() % 8 == 0) return bytes.resize(random() % (bytes.size() + 1));
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      // Mostly behind the header, or nothing would pass it.
      const std::size_t at =
          random() % 8 == 0 ? random() % bytes.size() : 24 + random() % (bytes.size() - 23);
      if (at < bytes.size()) bytes[at] ^= static_cast<std::byte>(1U << (random() % 8));
    }
  });
  std::vector<std::vector<int>> out, in;
  std::vector<std::pair<std::size_t, Request*>> requests;
  for (int i = 0; i < 40; ++i) {
    out.push_back(counting<int>(i % 2 == 0 ? 8 : 40000));
    in.emplace_back(out.back().size());
    const auto from = static_cast<std::size_t>(i % 3 == 0);
    requests.emplace_back(1 - from, pair.receive(1 - from, data_of(in.back())));
    requests.emplace_back(from, pair.send(from, data_of(out.back())));
    for (int step = 0; step < 10; ++step) pair.progress();
  }
  for (int step = 0; step < 300; ++step) pair.progress();
  pair.network.on_delivery({});
}
INSTANTIATE_TEST_SUITE_P(Seeds, CorruptExchange, testing::Range(0, 60));

}  // namespace
}  // namespace lath::transport
