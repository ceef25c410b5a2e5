#include "transport/schemes/chunk_pool.hpp"

#include <algorithm>
#include <new>

#include "gpu/stream.hpp"

namespace lath::transport {
namespace {

/// Page alignment keeps a registered slab from sharing a page with anything else.
constexpr std::align_val_t alignment{4096};
constexpr std::size_t slab_chunks = 4;
constexpr std::size_t slab_bytes = 8 * 1024 * 1024;

struct PlainTraits {
  using type = std::byte*;
  static constexpr type null() { return nullptr; }
  static void destroy(type memory) noexcept { ::operator delete(memory, alignment); }
};

}  // namespace

/// Members die in reverse order: the registration before the memory.
struct ChunkPool::Slab {
  unique_handle<PlainTraits> plain;
  gpu::PinnedBuffer pinned;
  gpu::DeviceBuffer device;
  std::unique_ptr<providers::Registration> registration;

  std::byte* allocate(Memory memory, int ordinal, std::size_t bytes) {
    switch (memory) {
      case Memory::plain:
        plain.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
        return plain.get();
      case Memory::pinned:
        pinned = gpu::PinnedBuffer(ordinal, bytes);
        return pinned.data();
      case Memory::device:
      case Memory::scratch:
        device = gpu::DeviceBuffer(ordinal, bytes);
        return static_cast<std::byte*>(device.data());
    }
    return nullptr;
  }
};

ChunkPool::ChunkPool(providers::Provider& provider, Memory memory, int device, std::size_t chunk_bytes,
                     std::size_t most_chunks)
    : provider_(provider), memory_(memory), device_(device), chunk_bytes_(chunk_bytes), quota_(most_chunks) {}

ChunkPool::~ChunkPool() = default;

Result ChunkPool::take(Direction direction, Chunk*& chunk) noexcept {
  if (!quota_.take(direction)) return Result::again();
  if (free_.empty()) {
    Result grown = grow();
    if (!grown.is_done()) {
      quota_.give(direction);
      return chunks_.empty() ? std::move(grown) : Result::again();
    }
  }
  chunk = free_.back();
  free_.pop_back();
  return Result::done();
}

void ChunkPool::give(Chunk* chunk, Direction direction) noexcept {
  quota_.give(direction);
  free_.push_back(chunk);  // never allocates: grow() reserved the place
}

Result ChunkPool::reserve() noexcept {
  return chunks_.empty() ? grow() : Result::done();
}

Result ChunkPool::grow() noexcept {
  const std::size_t left = quota_.most() - chunks_.size();
  if (left == 0) return Result::again();
  const std::size_t wanted =
      std::min({left, slab_chunks, std::max<std::size_t>(slab_bytes / chunk_bytes_, 1)});
  Result grown = grow(wanted);
  // Memory or registrations may be short: one chunk is enough to go on with.
  return grown.is_done() ? std::move(grown) : grow(1);
}

Result ChunkPool::grow(std::size_t count) noexcept {
  try {
    // What can throw comes first, so that a failure leaves nothing behind.
    slabs_.reserve(slabs_.size() + 1);
    std::vector<std::unique_ptr<Chunk>> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(std::make_unique<Chunk>());
    chunks_.reserve(chunks_.size() + count);
    free_.reserve(chunks_.size() + count);

    Slab slab;
    const std::size_t bytes = count * chunk_bytes_;
    std::byte* memory = slab.allocate(memory_, device_, bytes);
    const bool on_device = memory_ == Memory::device;
    if (on_device || (memory_ != Memory::scratch && provider_.limits().local_registration)) {
      std::unique_ptr<Error> why;
      slab.registration = provider_.register_memory(
          memory, bytes, on_device ? providers::MemoryKind::device : providers::MemoryKind::host, true, false,
          why);
      if (!slab.registration)
        return Result::failure(why ? *why
                                   : Error(Code::no_memory, "registration of a bounce buffer refused"));
    }
    for (std::size_t i = 0; i < count; ++i) {
      *made[i] = {memory + i * chunk_bytes_, slab.registration.get()};
      free_.push_back(made[i].get());
      chunks_.push_back(std::move(made[i]));
    }
    slabs_.push_back(std::move(slab));
    return Result::done();
  } catch (const Error& error) {
    return Result::failure(error);
  } catch (const std::bad_alloc&) {
    return Result::failure(Code::no_memory, "no host memory for a bounce buffer; lower LATH_CHUNK_BYTES");
  }
}

}  // namespace lath::transport
