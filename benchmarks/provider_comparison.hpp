#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "transport/job.hpp"

namespace lath::benchmarks {

/// Lath's messages of one size beside the provider's own, half round trips in microseconds.
struct SizeComparison {
  std::size_t bytes = 0;
  Quartiles provider;            ///< tagged messages through libfabric itself
  Quartiles lath;                ///< contiguous host messages through lath.h
  Quartiles difference;          ///< lath - provider of each round's medians
  double bandwidth_ratio = 0.0;  ///< of Lath's bandwidth to the provider's, by the medians
};

struct ProviderComparison {
  std::string provider;  ///< Lath's name, such as "ofi:shm"
  std::vector<SizeComparison> sizes;
  std::string failure;  ///< the first message with wrong bytes; empty where all were right
};

/// Runs both in turn, in the same run; collective over a job of two, the report is the first process'.
/// `provider` as lath_worker_create. Throws Error(not_supported) for a provider that is not over libfabric.
[[nodiscard]] ProviderComparison compare_with_provider(transport::Job& job, const std::string& provider,
                                                       double seconds);

}  // namespace lath::benchmarks
