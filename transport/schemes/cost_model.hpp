#pragma once

#include <cstdint>

#include "transport/plan.hpp"

/// Predicts how long a message takes under given schemes. Only the order of the predictions matters: they
/// choose between schemes.
namespace lath::transport {

/// Figures of the model, in seconds, bytes and bytes a second. None is measured on the machine at hand;
/// docs/schemes.md names where each comes from.
struct Costs {
  /// One 200 Gb/s NIC: published MPI bandwidth between hosts and between GPUs on Slingshot 11, 24.0 GB/s.
  double wire_bandwidth = 24e9;
  /// What a chunk costs the processors on each side: the tagged receive, the credit, the tagged send and
  /// their completions, from published post rates of 1.3 to 5 million work requests a second.
  double chunk = 1.5e-6;
  /// What a NIC spends on one entry of a list. At this figure a list of blocks of 720 bytes just fills the
  /// wire, the middle of the 512 bytes to 1 KiB from which gathering by the NIC pays.
  double list_entry = 30e-9;
  /// A processor's copy of some megabytes: memcpy of 4 MiB takes 289 us on the 2-core machine of the pattern
  /// catalogue.
  double host_bandwidth = 14e9;
  /// And what each block adds: 2.6 ns (16-byte blocks, near) to 10 ns (a page apart) there.
  double host_block = 4e-9;
  /// From the launch of a kernel until its event is seen to have passed, ~10 us; and the launch alone.
  double kernel_latency = 10e-6;
  double launch = 3e-6;
  /// A kernel between two places of one GPU's memory; blocks smaller than a memory sector cost a sector.
  double device_bandwidth = 500e9;
  double device_sector = 32;
  /// Kernel stores to, or copies into, pinned host memory over PCIe 4.0 x16.
  double bus_bandwidth = 22e9;
  /// Submitting one asynchronous copy.
  double copy_call = 2e-6;
};

/// What one chunk costs one side, by who is busy. All of these overlap between chunks.
struct StageTimes {
  double processor = 0;
  double gpu = 0;
  double wire = 0;
  double latency = 0;  ///< paid once a message
};

/// One chunk of `bytes` of a side of the summary's block density.
[[nodiscard]] StageTimes stage_times(Scheme scheme, const Summary& side, const Capabilities& capabilities,
                                     bool mixed, std::int64_t bytes, const Costs& costs = {}) noexcept;

/// A message of `chunks` equal chunks through both sides' stages: the slowest stage once a chunk, every other
/// once to fill the pipeline.
[[nodiscard]] double message_time(const StageTimes& source, const StageTimes& sink,
                                  std::int64_t chunks) noexcept;

}  // namespace lath::transport
