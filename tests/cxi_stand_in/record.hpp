#pragma once

#include <atomic>
#include <cstdint>

namespace lath::cxi_stand_in {

/// The counters of lath_cxi_stand_in_counts.
struct Record {
  std::atomic<std::uint64_t> operations{0}, injects{0}, writes{0}, device_operations{0}, doorbells{0},
      batches{0}, registrations{0}, optimised{0}, completions{0}, again{0}, refusals{0}, transmit_size{0},
      receive_size{0}, completion_size{0}, ordered_writes{0}, flushes{0};
};

[[nodiscard]] Record& record();

/// Counts a breach of one of cxi's rules and gives the error that cxi gives: -`number`. Where
/// CXI_STAND_IN_STRICT is 1 the process aborts and names the rule.
int refuse(int number, const char* rule);

/// Back-pressure, which is no breach: -FI_EAGAIN.
int full();

/// Appends the counts as one line to the file that CXI_STAND_IN_COUNTS names, if it does.
void write_record();

}  // namespace lath::cxi_stand_in
