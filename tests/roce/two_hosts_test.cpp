#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/config.hpp"
#include "tests/transport/exchange.hpp"

/// Runs on two hosts at once (see roce-vm): a worker on each, over soft RoCE. Both go through the same tests
/// with the same seeds, and meet by files in a folder that they share.
namespace lath::transport {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void set_link(const char* state) {
  const std::string command = fmt::format("ip link set {} {}", environment("ROCE_NETDEV"), state);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

class TwoHosts : public testing::Test {
 protected:
  static constexpr std::chrono::seconds patience{120};

  void SetUp() override {
    if (environment("ROCE_HOSTS") != "2") GTEST_SKIP() << "this is not one of two hosts of roce-vm";
    host = environment("ROCE_HOST") == "0" ? 0 : 1;
    begin();
  }
  void TearDown() override {
    if (worker != nullptr) finish();
  }
  /// A worker here, connected to a new one there.
  void begin() {
    worker = std::make_unique<Worker>(providers::open("verbs"));
    const auto theirs = swap(worker->address());
    peer = &worker->connect(theirs, 1 - host);
  }
  /// Neither goes before both are done.
  void finish() {
    (void)swap({});
    worker.reset();
  }

  /// Gives the other host bytes and gets its own, which is a barrier, too.
  std::vector<std::byte> swap(const std::vector<std::byte>& mine) {
    const std::filesystem::path folder = environment("ROCE_OUT");
    const auto name = [&](int of) {
      return folder /
             fmt::format("{}.{}.{}", testing::UnitTest::GetInstance()->current_test_info()->name(), step, of);
    };
    {
      std::ofstream file(name(host).string() + ".part", std::ios::binary);
      file.write(reinterpret_cast<const char*>(mine.data()), static_cast<std::streamsize>(mine.size()));
    }
    std::filesystem::rename(name(host).string() + ".part", name(host));
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!std::filesystem::exists(name(1 - host))) {
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error("the other host does not come");
      if (worker != nullptr) (void)worker->progress();
      std::this_thread::yield();
    }
    std::ifstream file(name(1 - host), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    ++step;
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
  }

  Outcome wait(Request* request) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
      Outcome outcome = worker->test(*request);
      if (outcome.complete) return outcome;
      (void)worker->progress();
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("a request does not end");
    }
  }
  Request* send(const Data& data, std::int64_t tag) {
    Request* request = nullptr;
    const Result result = worker->send(*peer, data, 0, tag, false, request);
    if (result.is_error()) ADD_FAILURE() << result.error().what();
    return request;
  }
  Request* receive(const Data& data, std::int64_t tag) {
    Request* request = nullptr;
    const Result result = worker->receive(data, {0, 1 - host, tag}, request);
    if (result.is_error()) ADD_FAILURE() << result.error().what();
    return request;
  }

  /// Random messages each way, all bytes checked: both hosts know both types.
  void exchange(std::uint64_t seed, std::size_t messages);
  void expect_a_number_each_way();

  int host = 0;
  int step = 0;
  std::unique_ptr<Worker> worker;
  Peer* peer = nullptr;
};

void TwoHosts::exchange(std::uint64_t seed, std::size_t messages) {
  RandomType::Options disjoint;
  disjoint.overlap = false;
  RandomType sending(seed * 2, RandomType::Options{}), receiving(seed * 2 + 1, disjoint);
  struct Message {
    std::unique_ptr<TestBuffer> out, in;
    std::vector<std::byte> before;
    Request* request = nullptr;
  };
  std::vector<Message> all(messages);
  for (std::size_t i = 0; i < messages; ++i) {
    Message& message = all[i];
    const Layout from = Layout::of(sending.next(), sending.below(300));
    Datatype type = receiving.next();
    while (type.size() == 0) type = receiving.next();
    type = Datatype::resized(type.true_lower_bound(), type.true_extent(), type);
    const Layout to = Layout::of(type, from.bytes() / type.size() + 1);
    message.out = std::make_unique<TestBuffer>(from, false, seed + i);
    message.in = std::make_unique<TestBuffer>(to, false, seed + i + 500);
    message.before = message.in->host();
    const bool mine = i % 2 == static_cast<std::size_t>(host);
    const auto tag = static_cast<std::int64_t>(i);
    message.request = mine ? send(message.out->data(), tag) : receive(message.in->data(), tag);
    if (i % 3 == 0) (void)worker->progress();
  }
  for (std::size_t i = 0; i < messages; ++i) {
    const Message& message = all[i];
    ASSERT_NE(message.request, nullptr);
    const Outcome outcome = wait(message.request);
    const std::string what = message.out->layout().text() + " into " + message.in->layout().text();
    ASSERT_EQ(outcome.error, nullptr) << what << ": " << outcome.error->what();
    if (i % 2 != static_cast<std::size_t>(host)) {
      ASSERT_EQ(outcome.status.bytes, message.out->layout().bytes()) << what;
      ASSERT_TRUE(message.in->holds(message.out->packed(), message.before)) << what;
    }
  }
}

void TwoHosts::expect_a_number_each_way() {
  std::vector<int> out{host + 10}, in{0};
  Request* receiving = receive(data_of(in), 77);
  Request* sending = send(data_of(out), 77);
  EXPECT_EQ(wait(receiving).error, nullptr);
  EXPECT_EQ(wait(sending).error, nullptr);
  EXPECT_EQ(in[0], 11 - host);
}

TEST_F(TwoHosts, RandomTypes) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    exchange(seed, 40);
    if (HasFatalFailure()) return;
  }
}

TEST_F(TwoHosts, RandomTypesUnderEveryScheme) {
  for (const char* scheme : {"contiguous", "gather", "host_pack", "staged"}) {
    setenv("LATH_SCHEME", scheme, 1);
    config::reload();
    read_tuning();
    for (std::uint64_t seed = 1; seed <= 4 && !HasFatalFailure(); ++seed) exchange(100 + seed, 40);
    unsetenv("LATH_SCHEME");
    config::reload();
    read_tuning();
  }
}

TEST_F(TwoHosts, AFaceIsGatheredAndScattered) {
  const Layout face = Layout::of(parse_type("vector(600,3200,6400,char)"), 1);
  TestBuffer out(face, false, 1), in(face, false, 2);
  const std::vector<std::byte> before = in.host();
  expect_a_number_each_way();
  const Counters counted = worker->counters();
  Request* request = host == 0 ? send(out.data(), 1) : receive(in.data(), 1);
  const Outcome outcome = wait(request);
  ASSERT_EQ(outcome.error, nullptr) << outcome.error->what();
  Counters used = worker->counters();
  used -= counted;
  EXPECT_EQ(used.pack_copies, 0U);
  EXPECT_EQ(used.staged_bytes, 0U);
  if (host == 0) {
    EXPECT_EQ(used.work_requests, (600 + 31) / 32 + 1U);
    EXPECT_LT(used.wire_bytes, 600 * 3200 * 102 / 100);
  } else {
    EXPECT_TRUE(in.holds(out.packed(), before));
  }
}

TEST_F(TwoHosts, APulledCableFailsTheRequestsAndAWorkerConnectsAgain) {
  expect_a_number_each_way();
  (void)swap({});
  // The second host pulls it; both find out by themselves.
  if (host == 1) set_link("down");
  (void)swap({});
  std::vector<std::byte> out(1 << 20), in(1 << 20);
  Request* receiving = receive(data_of(in), 5);
  Request* sending = send(data_of(out), 6);
  for (Request* request : {receiving, sending}) {
    const Outcome outcome = wait(request);
    ASSERT_NE(outcome.error, nullptr);
    EXPECT_EQ(outcome.error->lath_code(), Code::unreachable) << outcome.error->what();
  }
  worker.reset();
  (void)swap({});
  if (host == 1) set_link("up");
  (void)swap({});
  begin();
  expect_a_number_each_way();
}

}  // namespace
}  // namespace lath::transport
