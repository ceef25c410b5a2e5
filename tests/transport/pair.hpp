#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "datatypes/cursor.hpp"
#include "datatypes/type_spec.hpp"
#include "providers/registry.hpp"
#include "tests/providers/stub_provider.hpp"
#include "transport/worker.hpp"

namespace lath::transport {

/// Two connected workers of one process: number 0 and number 1, each also connected to itself (as 10 and 11).
class Pair {
 public:
  /// Over the stub.
  explicit Pair(const providers::StubOptions& options = {}) : Pair(options, options) {}
  Pair(const providers::StubOptions& first, const providers::StubOptions& second) {
    worker_[0] = std::make_unique<Worker>(network.attach(first));
    worker_[1] = std::make_unique<Worker>(network.attach(second));
    connect();
  }
  /// Over a real provider, such as "ofi:tcp".
  explicit Pair(std::string_view provider) {
    for (auto& worker : worker_) worker = std::make_unique<Worker>(providers::open(provider));
    connect();
  }

  Worker& operator[](std::size_t number) { return *worker_[number]; }
  /// The peer by which worker `from` reaches the other one; to_self(): itself.
  Peer& peer(std::size_t from) { return *peer_[from]; }
  Peer& to_self(std::size_t of) { return *self_[of]; }
  void destroy(std::size_t number) { worker_[number].reset(); }

  void progress() {
    for (auto& worker : worker_)
      if (worker != nullptr) (void)worker->progress();
  }

  /// Progresses both workers until the request of worker `number` has ended.
  Outcome wait(std::size_t number, Request* request) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    for (;;) {
      Outcome outcome = worker_[number]->test(*request);
      if (outcome.complete) return outcome;
      progress();
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("a request does not end");
    }
  }

  Request* send(std::size_t from, const Data& data, std::int64_t tag = 0, std::uint32_t context = 0,
                bool synchronous = false) {
    Request* request = nullptr;
    const Result result = worker_[from]->send(peer(from), data, context, tag, synchronous, request);
    if (result.is_error()) ADD_FAILURE() << result.error().what();
    return request;
  }
  Request* receive(std::size_t at, const Data& data, std::int64_t tag = any_tag,
                   std::int32_t source = any_source, std::uint32_t context = 0) {
    Request* request = nullptr;
    const Result result = worker_[at]->receive(data, {context, source, tag}, request);
    if (result.is_error()) ADD_FAILURE() << result.error().what();
    return request;
  }

  providers::StubNetwork network;

 private:
  void connect() {
    for (std::size_t i : {0U, 1U}) {
      const auto number = static_cast<std::int32_t>(i);
      peer_[i] = &worker_[i]->connect(worker_[1 - i]->address(), 1 - number);
      self_[i] = &worker_[i]->connect(worker_[i]->address(), 10 + number);
    }
  }

  std::array<std::unique_ptr<Worker>, 2> worker_;
  std::array<Peer*, 2> peer_{};
  std::array<Peer*, 2> self_{};
};

template <class T>
Data data_of(std::vector<T>& values) {
  return {values.data(), static_cast<std::int64_t>(values.size() * sizeof(T)), {}};
}
template <class T>
Data data_of(std::vector<T>& values, std::string_view type, std::int64_t count = 1) {
  return Data::of(values.data(), Layout::of(parse_type(type), count));
}

template <class T>
std::vector<T> counting(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i + 1);
  return values;
}

}  // namespace lath::transport
