#pragma once

#include <memory>
#include <vector>

#include "providers/unmapping_hooks.hpp"
#include "transport/schemes/bounce.hpp"
#include "transport/schemes/device_copy.hpp"
#include "transport/schemes/direct.hpp"

namespace lath::transport {

/// The pools of one worker. Each is made at once and empty, except what belongs to a device: that is made
/// when the first buffer there is met.
struct SchemeFactory::State {
  State(providers::Provider& used_provider, Counters& used_counters, std::size_t bytes);

  /// Throws Error where the device cannot be used.
  DeviceLane& lane(int device);
  /// Of the lanes' devices; after lane().
  ChunkPool& pinned_chunks() { return *pinned; }

  static constexpr std::size_t most_host_chunks = 64;
  static constexpr std::size_t most_bounce_slots = 512;
  static constexpr std::size_t most_segment_arrays = 1024;

  providers::Provider& provider;
  providers::UnmappingListener unmapping;
  providers::RegistrationCache registrations;  ///< of user memory
  Counters& counters;
  std::size_t chunk_bytes;
  std::size_t array_entries;
  BounceSlots slots;
  SegmentArrays arrays;
  ChunkPool plain;
  std::unique_ptr<ChunkPool> pinned;
  std::vector<std::unique_ptr<DeviceLane>> lanes;  ///< by device; null where not yet used
  bool kernels_missing = false;                    ///< on a device that was used
};

}  // namespace lath::transport
