#include "tests/providers/stub_provider.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace lath::providers {
namespace {

/// Collects what a poll reports.
struct Log final : Events {
  std::vector<std::vector<std::byte>> messages;
  std::vector<std::pair<Context, std::size_t>> completed;
  std::vector<Error> errors;
  void on_message(std::span<const std::byte> bytes) override {
    messages.emplace_back(bytes.begin(), bytes.end());
  }
  void on_completion(Context context, std::size_t bytes, const Error* error) override {
    completed.emplace_back(context, bytes);
    if (error != nullptr) errors.push_back(*error);
  }
  void on_unreachable(PeerId, const Error& error) override { errors.push_back(error); }
};

/// Two stubs that know each other, with numbered one-byte messages.
class StubPair : public testing::Test {
 protected:
  void open(StubOptions options) {
    a = network.attach(options);
    b = network.attach(options);
    to_b = a->connect(b->address());
    to_a = b->connect(a->address());
  }
  void poll(unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) {
      ASSERT_FALSE(a->poll(log_a).is_error());
      ASSERT_FALSE(b->poll(log_b).is_error());
    }
  }
  Result send(std::byte& value, Context context = nullptr, unsigned flags = 0) {
    const Segment segment{&value, 1, nullptr};
    return a->send(to_b, {&segment, 1}, context, flags);
  }

  StubNetwork network;
  std::unique_ptr<Provider> a, b;
  PeerId to_a = 0, to_b = 0;
  Log log_a, log_b;
};

TEST_F(StubPair, DeliversInOrderAndCompletesOnce) {
  open({});
  std::array<std::byte, 40> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::byte>(i);
    ASSERT_TRUE(send(values[i], &values[i]).is_done());
  }
  poll(10);
  ASSERT_EQ(log_b.messages.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(log_b.messages[i].front(), values[i]);
  EXPECT_EQ(log_a.completed.size(), values.size());
  EXPECT_TRUE(network.violations().empty());
}

TEST_F(StubPair, ReordersWhereUnordered) {
  StubOptions options;
  options.limits.ordered = false;
  open(options);
  std::array<std::byte, 40> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::byte>(i);
    ASSERT_TRUE(send(values[i]).is_done());
  }
  poll(10);
  ASSERT_EQ(log_b.messages.size(), values.size());
  bool in_order = true;
  for (std::size_t i = 0; i < values.size(); ++i) in_order &= log_b.messages[i].front() == values[i];
  EXPECT_FALSE(in_order);
}

TEST_F(StubPair, AnswersAgainWhenTheQueueIsFull) {
  StubOptions options;
  options.limits.queue_depth = 3;
  open(options);
  std::byte value{};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(send(value).is_done());
  EXPECT_TRUE(send(value).is_again());
  poll(3);
  EXPECT_TRUE(send(value).is_done());
}

TEST_F(StubPair, CountsADoorbellABatch) {
  open({});
  std::byte value{};
  ASSERT_TRUE(send(value, nullptr, more).is_done());
  ASSERT_TRUE(send(value, nullptr, more).is_done());
  ASSERT_TRUE(send(value).is_done());
  poll(2);
  EXPECT_EQ(log_b.messages.size(), 3U);
  EXPECT_EQ(a->counters().work_requests, 3U);
  EXPECT_EQ(a->counters().doorbells, 1U);
}

TEST_F(StubPair, RecordsBreachesOfTheContract) {
  open({});
  std::byte value{};
  const Segment empty{&value, 0, nullptr};
  EXPECT_TRUE(a->send(to_b, {&empty, 1}, &value, 0).is_error());
  const std::vector<Segment> long_list(5, Segment{&value, 1, nullptr});
  EXPECT_TRUE(a->send(to_b, long_list, &value, 0).is_error());
  const Segment whole{&value, 1, nullptr};
  EXPECT_TRUE(a->send_tagged(to_b, {&whole, 1}, 1, nullptr, 0).is_error());
  EXPECT_TRUE(a->send(to_b + 1, {&whole, 1}, &value, 0).is_error());
  EXPECT_EQ(network.violations().size(), 4U);
}

TEST_F(StubPair, BL41_RefusesRegistrationsByNumber) {
  StubOptions options;
  options.failing_registrations = {2};
  open(options);
  std::array<std::byte, 64> memory{};
  std::unique_ptr<Error> why;
  const auto first = a->register_memory(memory.data(), 64, MemoryKind::host, true, false, why);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(a->register_memory(memory.data(), 64, MemoryKind::host, true, false, why), nullptr);
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->lath_code(), Code::no_memory);
  EXPECT_EQ(network.registrations(), 1U);
}

TEST_F(StubPair, KilledPeersAreUnreachable) {
  open({});
  std::byte value{};
  ASSERT_TRUE(send(value, &value).is_done());
  network.kill(b->address());
  const Result later = send(value, &value);
  ASSERT_TRUE(later.is_error());
  EXPECT_EQ(later.error().lath_code(), Code::unreachable);
  ASSERT_FALSE(a->poll(log_a).is_error());
  // The operation's end, and the news.
  EXPECT_EQ(log_a.completed.size(), 1U);
  ASSERT_EQ(log_a.errors.size(), 2U);
  for (const Error& error : log_a.errors) EXPECT_EQ(error.lath_code(), Code::unreachable);
}

TEST_F(StubPair, CorruptsAndFailsByNumber) {
  StubOptions options;
  options.failing_operations = {2};
  open(options);
  network.corrupt_message(1, 0);
  std::byte value{1};
  ASSERT_TRUE(send(value, &value).is_done());
  ASSERT_TRUE(send(value, &value).is_done());
  poll(2);
  ASSERT_EQ(log_b.messages.size(), 1U);
  EXPECT_EQ(log_b.messages[0][0], std::byte{0xfe});
  ASSERT_EQ(log_a.errors.size(), 1U);
  EXPECT_EQ(log_a.errors[0].lath_code(), Code::provider);
}

}  // namespace
}  // namespace lath::providers
