#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_handle.hpp"

namespace lath::transport {

struct SocketTraits {
  using type = int;
  static constexpr type null() { return -1; }
  static void destroy(type) noexcept;
};
using Socket = unique_handle<SocketTraits>;

/// The processes of one run on this node, and a slow, reliable exchange among them: for addresses and
/// results, not for data. The processes meet on an abstract unix socket; the first to come is the hub. All
/// calls are collective, made by one thread, and throw Error(unreachable) that says who is missing where a
/// process has died or LATH_JOB_TIMEOUT has passed.
class Job {
 public:
  /// A job of this process alone.
  Job() = default;

  /// The job that this process was started into: by start_local(), or by a launcher that sets
  /// OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID with their sizes. Nothing where there is none. Throws
  /// Error(not_supported) where the launcher spreads the job over several nodes.
  static std::optional<Job> from_environment();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Every process' bytes, by rank. Lengths may differ; at most 1 GiB each.
  std::vector<std::vector<std::byte>> allgather(std::span<const std::byte> mine);
  void barrier();

  /// Has `progress` called again and again while this process waits for others, who may need it to move what
  /// it has sent them (lath_progress). It must not throw. Waiting then uses the processor.
  void while_waiting(std::function<void()> progress) { progress_ = std::move(progress); }

 private:
  Job(int rank, int size, const std::string& name);
  void become_hub(Socket listener);
  void join_hub(Socket connection);
  std::vector<std::byte> receive_from(int socket, std::chrono::steady_clock::time_point deadline,
                                      std::string_view whom);

  int rank_ = 0;
  int size_ = 1;
  bool hub_ = true;
  std::chrono::milliseconds timeout_{0};
  std::function<void()> progress_;
  std::vector<Socket> connections_;  // of the hub: by rank, its own empty; of the others: one, to the hub
};

/// Starts `size` copies of this very program with `arguments` (arguments[0] is the program's name), in which
/// Job::from_environment() gives the job, and waits for them. They die with this process. Returns 0 where all
/// ended with 0; otherwise the first failure's status (128 + signal for a death by signal), after the others
/// have had a moment to end by themselves and were then killed; 124 where `limit` passed (0: no limit). What
/// went wrong is logged. Throws Error(system) where a process cannot be started.
int start_local(int size, std::span<const std::string> arguments,
                std::chrono::milliseconds limit = std::chrono::milliseconds{0});

}  // namespace lath::transport
