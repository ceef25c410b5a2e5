#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/transport/pair.hpp"

namespace lath::transport {
namespace {

// Four threads a worker, each with a tag of its own, send and receive at once.
TEST(Thread, MultipleThreadsOfTwoWorkers) {
  providers::StubNetwork network;
  Worker first(network.attach(), ThreadMode::multiple), second(network.attach(), ThreadMode::multiple);
  Peer& to_second = first.connect(second.address(), 1);
  Peer& to_first = second.connect(first.address(), 0);
  // A thread whose own messages have ended keeps its worker going for the other worker's threads.
  std::atomic<int> talking{8};
  const auto talk = [&](Worker& worker, Peer& peer, int thread) {
    for (int i = 0; i < 60; ++i) {
      const std::size_t count = i % 5 == 0 ? 30000 : static_cast<std::size_t>(1 + i);
      std::vector<int> out(count, i * 10 + thread), in(count);
      Request *send = nullptr, *receive = nullptr;
      ASSERT_TRUE(worker.receive(data_of(in), {0, peer.source(), thread}, receive).is_done());
      ASSERT_TRUE(worker.send(peer, data_of(out), 0, thread, false, send).is_done());
      ASSERT_EQ(worker.wait(*receive).error, nullptr);
      ASSERT_EQ(worker.wait(*send).error, nullptr);
      ASSERT_EQ(in, out);
    }
    --talking;
    while (talking > 0) (void)worker.progress();
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back(talk, std::ref(first), std::ref(to_second), thread);
    threads.emplace_back(talk, std::ref(second), std::ref(to_first), thread);
  }
  for (std::thread& thread : threads) thread.join();
}

// Serialized: the calls come from several threads, one after the other.
TEST(Thread, SerializedCallsFromSeveralThreads) {
  providers::StubNetwork network;
  Worker first(network.attach(), ThreadMode::serialized), second(network.attach(), ThreadMode::serialized);
  Peer& to_second = first.connect(second.address(), 1);
  (void)second.connect(first.address(), 0);
  std::vector<int> out{1, 2, 3}, in(3);
  for (int i = 0; i < 10; ++i) {
    Request *send = nullptr, *receive = nullptr;
    std::thread([&] {
      ASSERT_TRUE(first.send(to_second, data_of(out), 0, 0, false, send).is_done());
    }).join();
    std::thread([&] { ASSERT_TRUE(second.receive(data_of(in), {0, 0, 0}, receive).is_done()); }).join();
    std::thread([&] { ASSERT_FALSE(first.progress().is_error()); }).join();
    std::thread([&] { ASSERT_EQ(second.wait(*receive).error, nullptr); }).join();
    std::thread([&] { ASSERT_EQ(first.wait(*send).error, nullptr); }).join();
    ASSERT_EQ(in, out);
  }
}

}  // namespace
}  // namespace lath::transport
