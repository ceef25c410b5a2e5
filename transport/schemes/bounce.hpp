#pragma once

#include "base/counters.hpp"
#include "gpu/stream.hpp"
#include "transport/scheme.hpp"
#include "transport/schemes/bounded_pool.hpp"
#include "transport/schemes/chunk_pool.hpp"

namespace lath::transport {

/// A slot of a scheme that goes through bounce memory.
struct BounceSlot {
  providers::Segment segment;  ///< the list of one that the provider gets
  Chunk* chunk = nullptr;
  // Of device data only, while its work runs:
  Chunk* scratch = nullptr;
  gpu::Event* event = nullptr;
  gpu::Stream* stream = nullptr;
};
using BounceSlots = BoundedPool<BounceSlot>;

/// One side's hold on the pools: takes a slot with its chunk, and gives both back.
class BouncePools {
 public:
  BouncePools(BounceSlots& slots, ChunkPool& chunks, Direction direction) noexcept
      : slots_(slots), chunks_(chunks), direction_(direction) {}

  /// again: none free. error: the range is longer than a chunk, or no chunk can be made at all. A range
  /// without bytes gets an empty list and no slot.
  Result take(PackedRange range, Slot& slot) noexcept;
  void give(Slot& slot) noexcept;
  [[nodiscard]] Direction direction() const noexcept { return direction_; }

 private:
  BounceSlots& slots_;
  ChunkPool& chunks_;
  Direction direction_;
};

/// Counts one chunk's share of a message's passes. The first chunk of a message (packed offset 0) counts the
/// passes; every chunk its bytes through host bounce memory.
inline void count_passes(Counters& counters, PackedRange range, std::uint64_t passes, bool through_host) {
  if (range.begin == 0) counters.pack_copies += passes;
  if (through_host) counters.staged_bytes += static_cast<std::uint64_t>(range.bytes());
}

}  // namespace lath::transport
