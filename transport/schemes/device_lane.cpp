#include "transport/schemes/device_lane.hpp"

#include "base/log.hpp"

namespace lath::transport {

DeviceLane::DeviceLane(int device, providers::Provider& provider, std::size_t chunk_bytes)
    : events_(most_events, [device] { return std::make_unique<gpu::Event>(device); }),
      wire_chunks_(provider, ChunkPool::Memory::device, device, chunk_bytes, most_chunks),
      scratch_chunks_(provider, ChunkPool::Memory::scratch, device, chunk_bytes, most_chunks) {
  for (auto& stream : streams_) stream.emplace(device);
  try {
    packer_ = std::make_unique<gpu::Packer>(device);
  } catch (const Error& error) {
    log::warn("device {}: data there is copied segment by segment, as kernels are not to be had: {}", device,
              error.what());
  }
}

gpu::Stream& DeviceLane::next_stream() noexcept {
  next_ = (next_ + 1) % stream_count;
  return *streams_[next_];
}

}  // namespace lath::transport
