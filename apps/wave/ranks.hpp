#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lath::wave {

/// The processes of this run, and a slow exchange among them for addresses and results. Calls are collective;
/// they throw Error(unreachable) where a process is gone.
class Ranks {
 public:
  virtual ~Ranks() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Every rank's bytes, by rank; lengths may differ.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> allgather(std::span<const std::byte> mine) = 0;
  /// Waits for the others without taking processor time from them.
  virtual void barrier() = 0;
};

/// This process alone.
[[nodiscard]] std::unique_ptr<Ranks> lone_rank();

/// The processes that this one was started with: through MPI where it was built with it and an mpiexec of
/// that MPI started it, else through the job of the environment; alone where there is none. Throws
/// Error(not_supported) where `needs_mpi` and the launcher is not that MPI's.
[[nodiscard]] std::unique_ptr<Ranks> join_ranks(bool needs_mpi);

/// How many processes a launcher's environment announces; 1 where there is none.
[[nodiscard]] int announced_size();

/// Whether the application was built with MPI, and then MPI's own name and version.
[[nodiscard]] const char* mpi_name();
/// Null where this process was not started by the linked MPI's mpiexec.
[[nodiscard]] std::unique_ptr<Ranks> mpi_ranks();

}  // namespace lath::wave
