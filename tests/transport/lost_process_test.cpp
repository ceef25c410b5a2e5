#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "tests/providers/provider_pair.hpp"
#include "tests/transport/pair.hpp"

/// What becomes of requests when the process of a peer dies, over real providers.
namespace lath::transport {
namespace {

class LostProcess : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(to_parent.data()), 0);
    ASSERT_EQ(pipe(to_child.data()), 0);
    child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        run_child();
      } catch (const std::exception&) {
        // The parent meets the same and says it; this copy must not go on to the next test.
        _exit(4);
      }
    }
    try {
      worker = std::make_unique<Worker>(providers::open(GetParam()));
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    give(to_child[1], worker->address());
    peer = &worker->connect(take(to_parent[0]), 1);
    self = &worker->connect(worker->address(), 0);
  }
  void TearDown() override { kill_child(); }

  void kill_child() {
    if (child <= 0) return;
    EXPECT_EQ(::kill(child, SIGKILL), 0);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    child = 0;
  }
  /// Progresses until the child's `count` small messages are in.
  void expect_messages(int count) {
    for (int i = 0; i < count; ++i) {
      int value = -1;
      Request* request = nullptr;
      ASSERT_TRUE(worker->receive({&value, 4, {}}, {0, 1, i}, request).is_done());
      EXPECT_EQ(worker->wait(*request).error, nullptr);
      EXPECT_EQ(value, i);
    }
  }
  Code failure(Request* request) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      Outcome outcome = worker->test(*request);
      if (!outcome.complete) {
        (void)worker->progress();
        continue;
      }
      if (outcome.error == nullptr) return Code::internal;
      EXPECT_NE(std::string(outcome.error->what()).find("peer 1"), std::string::npos);
      return outcome.error->lath_code();
    }
    ADD_FAILURE() << "the request does not end";
    return Code::internal;
  }

  static void give(int to, const std::vector<std::byte>& bytes) {
    const std::size_t length = bytes.size();
    if (write(to, &length, sizeof length) < 0 || write(to, bytes.data(), length) < 0) _exit(3);
  }
  static std::vector<std::byte> take(int from) {
    std::size_t length = 0;
    if (read(from, &length, sizeof length) != sizeof length) return {};
    std::vector<std::byte> bytes(length);
    for (std::size_t at = 0; at < length;) {
      const ssize_t got = read(from, bytes.data() + at, length - at);
      if (got <= 0) return {};
      at += static_cast<std::size_t>(got);
    }
    return bytes;
  }

  /// Sends two small messages and begins a large one each way; then stands still.
  [[noreturn]] void run_child() const {
    Worker mine(providers::open(GetParam()));
    give(to_parent[1], mine.address());
    const std::vector<std::byte> address = take(to_child[0]);
    if (address.empty()) _exit(2);
    Peer& parent = mine.connect(address, 0);
    std::vector<char> large(large_bytes, 1), in(large_bytes);
    Request* request = nullptr;
    for (int i : {0, 1}) {
      if (!mine.send(parent, {&i, 4, {}}, 0, i, false, request).is_done()) _exit(4);
      if (mine.wait(*request).error != nullptr) _exit(5);
    }
    Request* sending = nullptr;
    Request* receiving = nullptr;
    (void)mine.send(parent, data_of(large), 0, 50, false, sending);
    (void)mine.receive(data_of(in), {0, 0, 51}, receiving);
    for (int i = 0; i < 2000; ++i) (void)mine.progress();
    for (;;) pause();
  }

  static constexpr std::size_t large_bytes = std::size_t{16} << 20;
  std::unique_ptr<Worker> worker;
  Peer* peer = nullptr;
  Peer* self = nullptr;

 private:
  pid_t child = 0;
  std::array<int, 2> to_parent{}, to_child{};
};

TEST_P(LostProcess, EndsItsRequestsAndNoOthers) {
  expect_messages(2);
  std::vector<char> out(large_bytes), in(large_bytes);
  int never = 0, any = 0;
  Request *sent = nullptr, *unanswered = nullptr, *received = nullptr, *waiting = nullptr,
          *from_any = nullptr;
  ASSERT_TRUE(worker->send(*peer, data_of(out), 0, 51, false, sent).is_done());
  ASSERT_TRUE(worker->send(*peer, data_of(out), 0, 52, true, unanswered).is_done());
  ASSERT_TRUE(worker->receive(data_of(in), {0, 1, 50}, received).is_done());
  ASSERT_TRUE(worker->receive({&never, 4, {}}, {0, 1, 99}, waiting).is_done());
  ASSERT_TRUE(worker->receive({&any, 4, {}}, {0, any_source, 9}, from_any).is_done());
  for (int i = 0; i < 100; ++i) (void)worker->progress();
  kill_child();
  for (Request* request : {sent, unanswered, received, waiting})
    EXPECT_EQ(failure(request), Code::unreachable);
  Request* late = nullptr;
  const Result refused = worker->receive({&never, 4, {}}, {0, 1, 99}, late);
  ASSERT_TRUE(refused.is_error());
  EXPECT_EQ(refused.error().lath_code(), Code::unreachable);
  int value = 7;
  Request* own = nullptr;
  ASSERT_TRUE(worker->send(*self, {&value, 4, {}}, 0, 9, false, own).is_done());
  EXPECT_EQ(worker->wait(*from_any).error, nullptr);
  EXPECT_EQ(worker->wait(*own).error, nullptr);
  EXPECT_EQ(any, 7);
}

INSTANTIATE_TEST_SUITE_P(Providers, LostProcess, testing::Values("ofi:tcp", "ofi:shm", "ofi:cxi"),
                         providers::provider_name);

}  // namespace
}  // namespace lath::transport
