#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "datatypes/cursor.hpp"
#include "gpu/stream.hpp"
#include "tests/datatypes/random_type.hpp"
#include "tests/transport/pair.hpp"

namespace lath::transport {

/// One side's buffer in host or device memory, filled with a pattern; compared with what it should hold.
class TestBuffer {
 public:
  TestBuffer(const Layout& layout, bool device, std::uint64_t seed)
      : layout_(layout), host_(static_cast<std::size_t>(layout.highest() - layout.lowest()) + 1) {
    for (std::size_t i = 0; i < host_.size(); ++i)
      host_[i] = static_cast<std::byte>((seed + i) * 0x9E3779B97F4A7C15ULL >> 56);
    if (!device) return;
    device_ = std::make_unique<gpu::DeviceBuffer>(0, host_.size());
    EXPECT_TRUE(gpu::copy_and_wait(device_->data(), host_.data(), host_.size()).is_done());
  }

  [[nodiscard]] Data data() {
    auto* at = device_ != nullptr ? static_cast<std::byte*>(device_->data()) : host_.data();
    return Data::of(at - layout_.lowest(), layout_);
  }
  /// The packed bytes of the pattern.
  [[nodiscard]] std::vector<std::byte> packed() const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(layout_.bytes()));
    pack(layout_, host_.data() - layout_.lowest(), {0, layout_.bytes()}, bytes.data());
    return bytes;
  }
  /// Whether the buffer holds the pattern with `bytes` unpacked into it, and nothing else has changed.
  [[nodiscard]] testing::AssertionResult holds(const std::vector<std::byte>& bytes,
                                               const std::vector<std::byte>& pattern) const {
    std::vector<std::byte> expected = pattern;
    unpack(layout_, expected.data() - layout_.lowest(), {0, static_cast<std::int64_t>(bytes.size())},
           bytes.data());
    std::vector<std::byte> now = host_;
    if (device_ != nullptr && !gpu::copy_and_wait(now.data(), device_->data(), now.size()).is_done())
      return testing::AssertionFailure() << "cannot read device memory";
    if (now == expected) return testing::AssertionSuccess();
    const auto at = std::mismatch(now.begin(), now.end(), expected.begin()).first - now.begin();
    return testing::AssertionFailure() << "differs at byte " << at << " of " << now.size();
  }
  [[nodiscard]] const std::vector<std::byte>& host() const { return host_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }

 private:
  Layout layout_;
  std::vector<std::byte> host_;
  std::unique_ptr<gpu::DeviceBuffer> device_;
};

struct ExchangeOptions {
  std::uint64_t seed = 1;
  int messages = 20;
  bool device_send = false;
  bool device_receive = false;
  std::int64_t most_copies = 40;  ///< elements of a type in one message
};

/// Random messages from worker 0 to 1 and back: random types on both sides, sizes, tags, contexts, wildcards
/// and order of posting and progress. Every byte of every receive buffer is checked.
class Exchange {
 public:
  Exchange(Pair& pair, const ExchangeOptions& options)
      : pair_(pair),
        options_(options),
        sending_types_(options.seed * 2, RandomType::Options{}),
        receiving_types_(options.seed * 2 + 1, disjoint()) {}

  void run() {
    for (int i = 0; i < options_.messages; ++i) make_message();
    const bool in_order = below(3) == 0;
    std::vector<std::size_t> receives = receiving_order(in_order);
    std::size_t sent = 0;
    for (std::size_t posted = 0; sent < messages_.size() || posted < receives.size();) {
      const bool send_next = posted == receives.size() || (sent < messages_.size() && below(2) == 0);
      if (send_next)
        start_send(messages_[sent++]);
      else
        start_receive(messages_[receives[posted++]], in_order);
      if (below(3) == 0) (void)pair_[static_cast<std::size_t>(below(2))].progress();
    }
    for (Message& message : messages_) finish(message);
  }

 private:
  struct Message {
    std::size_t from = 0;
    std::uint32_t context = 0;
    std::int64_t tag = 0;
    std::unique_ptr<TestBuffer> out, in;
    std::vector<std::byte> before;
    Request* send = nullptr;
    Request* receive = nullptr;
  };

  static RandomType::Options disjoint() {
    RandomType::Options options;
    options.overlap = false;
    return options;
  }
  std::int64_t below(std::int64_t bound) { return sending_types_.below(bound); }

  void make_message() {
    Message message;
    message.from = static_cast<std::size_t>(below(2));
    message.context = static_cast<std::uint32_t>(below(2));
    message.tag = below(3);
    const Datatype type = sending_types_.next();
    const Layout layout = Layout::of(type, below(options_.most_copies));
    message.out =
        std::make_unique<TestBuffer>(layout, options_.device_send, static_cast<std::uint64_t>(below(1000)));
    message.in = std::make_unique<TestBuffer>(receiving_layout(layout.bytes()), options_.device_receive,
                                              static_cast<std::uint64_t>(below(1000)));
    message.before = message.in->host();
    messages_.push_back(std::move(message));
  }

  /// A layout without overlap of at least so many bytes.
  Layout receiving_layout(std::int64_t bytes) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      Datatype type = receiving_types_.next();
      if (type.size() == 0) continue;
      type = Datatype::resized(type.true_lower_bound(), type.true_extent() + below(9), type);
      return Layout::of(type, (bytes + type.size() - 1) / type.size() + below(2));
    }
    return Layout::contiguous(bytes);
  }

  /// In the order of the sends, or shuffled where no two of one key change places.
  std::vector<std::size_t> receiving_order(bool in_order) {
    std::vector<std::size_t> order(messages_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (in_order) return order;
    for (std::size_t round = 0; round < order.size() * 4; ++round) {
      const auto at = static_cast<std::size_t>(below(static_cast<std::int64_t>(order.size())));
      if (at + 1 >= order.size()) continue;
      const Message& first = messages_[order[at]];
      const Message& second = messages_[order[at + 1]];
      const bool one_key =
          first.from == second.from && first.context == second.context && first.tag == second.tag;
      if (!one_key) std::swap(order[at], order[at + 1]);
    }
    return order;
  }

  void start_send(Message& message) {
    message.send = pair_.send(message.from, message.out->data(), message.tag, message.context, below(5) == 0);
  }

  /// With wildcards where the order of posting leaves no doubt which message is meant.
  void start_receive(Message& message, bool in_order) {
    const auto source = below(2) == 0 ? any_source : static_cast<std::int32_t>(message.from);
    const std::int64_t tag = in_order && message.context == 0 ? any_tag : message.tag;
    message.receive = pair_.receive(1 - message.from, message.in->data(), tag, source, message.context);
  }

  void finish(Message& message) {
    ASSERT_NE(message.send, nullptr);
    ASSERT_NE(message.receive, nullptr);
    const Outcome received = pair_.wait(1 - message.from, message.receive);
    const Outcome sent = pair_.wait(message.from, message.send);
    const std::string what = "seed " + std::to_string(options_.seed) + ": " + message.out->layout().text() +
                             " into " + message.in->layout().text();
    ASSERT_EQ(received.error, nullptr) << what << ": " << received.error->what();
    ASSERT_EQ(sent.error, nullptr) << what << ": " << sent.error->what();
    ASSERT_EQ(received.status.tag, message.tag) << what;
    ASSERT_EQ(received.status.bytes, message.out->layout().bytes()) << what;
    ASSERT_TRUE(message.in->holds(message.out->packed(), message.before)) << what;
  }

  Pair& pair_;
  ExchangeOptions options_;
  RandomType sending_types_;
  RandomType receiving_types_;
  std::vector<Message> messages_;
};

}  // namespace lath::transport
