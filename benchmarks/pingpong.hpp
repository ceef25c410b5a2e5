#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "benchmarks/message_buffer.hpp"
#include "benchmarks/statistics.hpp"
#include "datatypes/datatype.hpp"
#include "transport/job.hpp"

namespace lath::benchmarks {

/// One process' side of the message.
struct PingpongSide {
  std::string pattern;  ///< as given: a name or a type-spec
  Datatype type;
  std::int64_t count = 1;
  Memory memory = Memory::host;
};

struct PingpongOptions {
  PingpongSide sides[2];        ///< by rank; both of the same packed bytes, neither overlapping itself
  std::string provider;         ///< empty: the default
  std::string scheme;           ///< LATH_SCHEME's choices, or "all"; empty: as LATH_SCHEME says
  std::int64_t iterations = 0;  ///< timed round trips of each scheme; 0: what fits into `seconds`
  double seconds = 1.0;         ///< timed part of each scheme, the contiguous reference included
};

/// One scheme's figures. Times are half round trips in microseconds.
struct PingpongResult {
  std::string scheme;                  ///< that was asked for
  std::string source, sink;            ///< by which the first process sent and received
  std::string peer_source, peer_sink;  ///< by which the second did
  Quartiles time;
  Quartiles contiguous_time;  ///< of as many contiguous bytes in the same memory, interleaved with the rest
  double bandwidth = 0.0;     ///< GB/s of packed bytes
  double ratio = 0.0;         ///< time.median / contiguous_time.median
  Counters counters;          ///< of both processes' timed part, without the reference
  std::uint64_t checked_bytes = 0;  ///< compared, in both processes
  std::string failure;              ///< the first wrong byte; empty where all were right
};

/// A scheme that neither side of either process may use.
struct IllegalScheme {
  std::string scheme;
  std::string reason;
};

struct PingpongReport {
  std::string provider;
  std::int64_t bytes = 0;
  std::int64_t segments[2] = {0, 0};
  std::vector<PingpongResult> results;  ///< the one to quote first: with "all", auto; of legal schemes
  std::vector<IllegalScheme> not_legal;
};

/// Runs the benchmark; collective over a job of two, the report is the same in both.
[[nodiscard]] PingpongReport pingpong(transport::Job& job, const PingpongOptions& options);

}  // namespace lath::benchmarks
