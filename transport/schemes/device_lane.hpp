#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "gpu/packer.hpp"
#include "gpu/stream.hpp"
#include "transport/schemes/bounce.hpp"

namespace lath::transport {

/// Everything that a worker keeps on one device: streams, events, the packer, and bounce memory there.
class DeviceLane {
 public:
  /// Makes the streams, and loads the kernels where there are any. Throws Error where the device cannot be
  /// used.
  DeviceLane(int device, providers::Provider& provider, std::size_t chunk_bytes);

  /// The streams take turns, so that chunks pack side by side.
  [[nodiscard]] gpu::Stream& next_stream() noexcept;
  [[nodiscard]] BoundedPool<gpu::Event>& events() noexcept { return events_; }
  /// Null where kernels are not to be had.
  [[nodiscard]] gpu::Packer* packer() noexcept { return packer_.get(); }
  [[nodiscard]] bool has_kernels() const noexcept { return packer_ != nullptr; }
  /// Device memory that the provider reads and writes.
  [[nodiscard]] ChunkPool& wire_chunks() noexcept { return wire_chunks_; }
  /// Device memory between a kernel and a copy.
  [[nodiscard]] ChunkPool& scratch_chunks() noexcept { return scratch_chunks_; }

  static constexpr std::size_t stream_count = 4;
  static constexpr std::size_t most_chunks = 32;
  static constexpr std::size_t most_events = 256;

 private:
  std::array<std::optional<gpu::Stream>, stream_count> streams_;
  std::size_t next_ = 0;
  std::unique_ptr<gpu::Packer> packer_;
  BoundedPool<gpu::Event> events_;
  ChunkPool wire_chunks_;
  ChunkPool scratch_chunks_;
};

}  // namespace lath::transport
