#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "providers/provider.hpp"
#include "transport/schemes/quota.hpp"

namespace lath::transport {

/// Bounce memory for one chunk.
struct Chunk {
  std::byte* address = nullptr;
  const providers::Registration* registration = nullptr;
};

/// Bounce memory of one kind in equal chunks, made in slabs on use, up to a bound, and kept until the pool
/// dies. One thread at a time; no chunk may be out when the pool dies.
class ChunkPool {
 public:
  enum class Memory {
    plain,    ///< host memory of the C++ runtime
    pinned,   ///< page-locked host memory
    device,   ///< device memory that the provider reads and writes
    scratch,  ///< device memory that only kernels and copies touch
  };
  /// `device`: where pinned and device memory are made. Makes nothing yet.
  ChunkPool(providers::Provider& provider, Memory memory, int device, std::size_t chunk_bytes,
            std::size_t most_chunks);
  ~ChunkPool();

  /// again: all are out, or no more memory can be had while some are out. error: none could be made at all.
  Result take(Direction direction, Chunk*& chunk) noexcept;
  void give(Chunk* chunk, Direction direction) noexcept;
  /// Sees to it that at least one chunk exists. Error with the reason where that fails.
  Result reserve() noexcept;

  [[nodiscard]] std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return chunks_.size() * chunk_bytes_; }
  [[nodiscard]] std::size_t most_bytes() const noexcept { return quota_.most() * chunk_bytes_; }

 private:
  struct Slab;
  Result grow() noexcept;
  Result grow(std::size_t chunks) noexcept;

  providers::Provider& provider_;
  Memory memory_;
  int device_;
  std::size_t chunk_bytes_;
  Quota quota_;
  std::vector<Slab> slabs_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_;
};

}  // namespace lath::transport
