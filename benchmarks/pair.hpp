#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/counters.hpp"
#include "benchmarks/lath_call.hpp"
#include "transport/job.hpp"

namespace lath::benchmarks {

/// This process' worker, connected with that of the job's other process. Collective; for jobs of two.
class Pair {
 public:
  /// provider: as lath_worker_create; empty for the default.
  Pair(transport::Job& job, const std::string& provider);
  ~Pair();
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  [[nodiscard]] lath_worker worker() const noexcept { return worker_.get(); }
  [[nodiscard]] lath_peer peer() const noexcept { return peer_; }
  /// The other process' number, as in receives.
  [[nodiscard]] int other() const noexcept { return 1 - job_.rank(); }
  [[nodiscard]] int rank() const noexcept { return job_.rank(); }

  /// Waits for the other process, and moves data meanwhile.
  void meet() { job_.barrier(); }
  /// Both processes' values, by rank.
  template <class T>
  std::vector<T> share(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> out;
    for (const auto& bytes : job_.allgather(std::as_bytes(std::span(&mine, 1)))) {
      T value{};
      std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
      out.push_back(value);
    }
    return out;
  }
  /// Both processes' texts, by rank.
  std::vector<std::string> texts(const std::string& mine);
  /// The first non-empty text of the two, with its process named; empty where both are.
  std::string first_failure(const std::string& mine);
  /// This worker's counters now.
  [[nodiscard]] Counters counters() const;

 private:
  transport::Job& job_;
  Worker worker_;
  lath_peer peer_ = nullptr;
};

}  // namespace lath::benchmarks
