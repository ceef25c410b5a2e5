#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

#include "tests/providers/provider_pair.hpp"

/// What every provider must do when a peer dies, on each that this machine offers.
namespace lath::providers {
namespace {

constexpr std::uint64_t tag = 0x77;
constexpr std::size_t sent_before_death = 20;

class DeadPeer : public ProviderPair {};
/// Peers in processes of their own: the stub has none.
class DeadProcess : public ProviderPair {
 protected:
  /// Starts a process with an open provider, and connects `a` to it. It sends `a` what `sends` says, and then
  /// neither polls nor ends.
  void start(std::size_t sends) {
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    const std::string provider = GetParam(), count = std::to_string(sends), own = hexadecimal(a->address()),
                      descriptor = std::to_string(pipe_ends[1]);
    child = fork();
    ASSERT_GE(child, 0);
    // A program of its own: UCX, for one, does not survive in a forked copy of its process.
    if (child == 0) {
      execl(LATH_MORTAL_PEER, LATH_MORTAL_PEER, provider.c_str(), count.c_str(), own.c_str(),
            descriptor.c_str(), nullptr);
      _exit(127);
    }
    close(pipe_ends[1]);
    std::size_t length = 0;
    std::array<std::byte, 1024> bytes{};
    ASSERT_TRUE(read_from_child(&length, sizeof length) && length <= bytes.size());
    ASSERT_TRUE(read_from_child(bytes.data(), length));
    address.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    to_child = a->connect(address);
    // A message each way: whatever a connection needs from the child has been done.
    std::uint64_t hello = 1;
    const Segment segment{&hello, 8, registered(*a, &hello, 8)};
    ASSERT_TRUE(post([&] { return a->send(to_child, {&segment, 1}, &hello, 0); }));
    ASSERT_TRUE(drive([&] { return at_a.messages.size() == sends && at_a.completions == 1; }));
    at_a.completions = 0;
    char byte = 0;
    ASSERT_TRUE(read_from_child(&byte, 1));
  }
  void kill_child() {
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    child = 0;
  }
  void TearDown() override {
    if (child > 0) kill_child();
    if (pipe_ends[0] > 0) close(pipe_ends[0]);
    ProviderPair::TearDown();
    // What a crash leaves of shm, where nobody noticed the death.
    (void)remove_shared_memory();
  }
  /// Whether the child's shm was still there.
  bool remove_shared_memory() {
    const std::string name(reinterpret_cast<const char*>(address.data()), address.size());
    constexpr std::string_view scheme = "fi_shm://";
    const auto at = name.find(scheme);
    return at != std::string::npos && shm_unlink(name.c_str() + at + scheme.size()) == 0;
  }

  std::vector<std::byte> address;
  PeerId to_child = 0;

 private:
  static std::string hexadecimal(const std::vector<std::byte>& bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
      text += "0123456789abcdef"[std::to_integer<unsigned>(byte) / 16];
      text += "0123456789abcdef"[std::to_integer<unsigned>(byte) % 16];
    }
    return text;
  }
  bool read_from_child(void* into, std::size_t length) const {
    auto* at = static_cast<char*>(into);
    while (length > 0) {
      const ssize_t got = read(pipe_ends[0], at, length);
      if (got <= 0) return false;
      at += got;
      length -= static_cast<std::size_t>(got);
    }
    return true;
  }

  pid_t child = 0;
  std::array<int, 2> pipe_ends{};
};

TEST_P(DeadPeer, OperationsAreUnreachable) {
  const std::vector<std::byte> address = b->address();
  b.reset();
  if (GetParam() == "stub") network.kill(address);
  std::uint64_t value = 5;
  const Segment segment{&value, 8, registered(*a, &value, 8)};
  std::unique_ptr<Error> error;
  bool taken = false;
  ASSERT_TRUE(drive([&] {
    if (taken) return at_a.ended.count(&value) == 1;
    Result result = a->send(to_b, {&segment, 1}, &value, 0);
    taken = result.is_done();
    if (result.is_error()) error = result.take_error();
    return result.is_error();
  }));
  if (taken) error = std::move(at_a.ended[&value].error);
  ASSERT_NE(error, nullptr) << "the message went somewhere";
  EXPECT_EQ(error->lath_code(), Code::unreachable) << error->what();
  EXPECT_EQ(at_a.completions, taken ? 1U : 0U);
}

TEST_P(DeadPeer, IsToldByPollOnceAndEndsWhatWaits) {
  std::vector<std::byte> into(100);
  const Segment to{into.data(), into.size(), registered(*a, into.data(), into.size())};
  ASSERT_TRUE(post([&] { return a->receive_tagged(to_b, {&to, 1}, tag, &into); }));
  const std::vector<std::byte> address = b->address();
  b.reset();
  if (GetParam() == "stub") network.kill(address);
  ASSERT_TRUE(drive([&] { return at_a.unreachable.size() == 1 && at_a.completions == 1; }));
  EXPECT_EQ(at_a.unreachable[to_b].error->lath_code(), Code::unreachable);
  ASSERT_NE(at_a.ended[&into].error, nullptr);
  for (int polls = 0; polls < 5000; ++polls) (void)a->poll(at_a);
  EXPECT_EQ(at_a.unreachable[to_b].times, 1U);
  EXPECT_EQ(at_a.ended[&into].times, 1U);
}

TEST_P(DeadProcess, SendsAreUnreachable) {
  start(0);
  kill_child();
  std::unique_ptr<Error> error;
  std::uint64_t value = 5;
  const Segment segment{&value, 8, registered(*a, &value, 8)};
  // The device may take some messages before it notices.
  ASSERT_TRUE(drive([&] {
    Result result = a->send(to_child, {&segment, 1}, &value, 0);
    if (result.is_error()) error = result.take_error();
    if (at_a.ended[&value].error != nullptr) error = std::move(at_a.ended[&value].error);
    return error != nullptr;
  }));
  EXPECT_EQ(error->lath_code(), Code::unreachable) << error->what();
}

TEST_P(DeadProcess, IsToldAfterAllThatItHadSent) {
  start(sent_before_death);
  std::vector<std::byte> into(100);
  const Segment to{into.data(), into.size(), registered(*a, into.data(), into.size())};
  ASSERT_TRUE(post([&] { return a->receive_tagged(to_child, {&to, 1}, tag, &into); }));
  kill_child();
  ASSERT_TRUE(drive([&] { return at_a.unreachable.size() == 1 && at_a.ended.count(&into) == 1; }));
  EXPECT_EQ(at_a.messages.size(), sent_before_death);
  EXPECT_EQ(at_a.unreachable.count(to_child), 1U);
  ASSERT_NE(at_a.ended[&into].error, nullptr);
  EXPECT_EQ(at_a.ended[&into].error->lath_code(), Code::unreachable) << at_a.ended[&into].error->what();
}

TEST_P(DeadProcess, EndsWhatIsOnItsWayThere) {
  start(1);
  std::vector<std::byte> data = numbered_bytes(std::size_t{8} << 20, 1);
  const Segment from{data.data(), data.size(), registered(*a, data.data(), data.size())};
  std::vector<std::byte> names(8);
  std::size_t taken = 0;
  for (int polls = 0; polls < 1000; ++polls) {
    if (taken < names.size() && a->send_tagged(to_child, {&from, 1}, tag, &names[taken], 0).is_done())
      ++taken;
    ASSERT_FALSE(a->poll(at_a).is_error());
  }
  ASSERT_GT(taken, 0U);
  kill_child();
  ASSERT_TRUE(drive([&] { return at_a.completions == taken && at_a.unreachable.count(to_child) == 1; }));
  // Some may have left: a device's word is about its own side.
  ASSERT_NE(at_a.ended[&names[taken - 1]].error, nullptr);
  EXPECT_EQ(at_a.ended[&names[taken - 1]].error->lath_code(), Code::unreachable)
      << at_a.ended[&names[taken - 1]].error->what();
  EXPECT_FALSE(remove_shared_memory());
}

INSTANTIATE_TEST_SUITE_P(Providers, DeadPeer,
                         testing::Values("stub", "ofi:tcp", "ofi:shm", "ofi:cxi", "verbs", "ucx:shm",
                                         "ucx:tcp"),
                         provider_name);
INSTANTIATE_TEST_SUITE_P(Providers, DeadProcess,
                         testing::Values("ofi:tcp", "ofi:shm", "ofi:cxi", "verbs", "ucx:shm", "ucx:tcp"),
                         provider_name);

}  // namespace
}  // namespace lath::providers
