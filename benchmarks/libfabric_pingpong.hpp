#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/job.hpp"

namespace lath::benchmarks {

/// Tagged messages of contiguous host memory through libfabric itself, between the two processes of a job:
/// what Lath over the same provider is measured against. Built only with libfabric.
class LibfabricPair {
 public:
  /// provider: libfabric's own name, such as "shm". Collective. Throws Error(libfabric) where it cannot be
  /// opened, among others where it needs registered memory.
  LibfabricPair(transport::Job& job, const std::string& provider);
  ~LibfabricPair();

  /// Half round trips in microseconds of messages of `bytes` from `outgoing` into `incoming`; empty in the
  /// second process. Collective.
  std::vector<double> run(const void* outgoing, void* incoming, std::size_t bytes, std::int64_t iterations);
  /// Moves what was sent along, while the process waits for something else.
  void progress() noexcept;

  struct Endpoint;

 private:
  int rank_;
  std::unique_ptr<Endpoint> endpoint_;
};

}  // namespace lath::benchmarks
