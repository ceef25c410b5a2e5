#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/counters.hpp"
#include "base/result.hpp"
#include "datatypes/layout.hpp"
#include "providers/provider.hpp"
#include "transport/plan.hpp"

/// The two ends of a message's data path. A Source makes packed ranges of the user's buffer readable by the
/// provider, a Sink takes packed ranges that the provider wrote into the user's buffer. Both work in chunks
/// (Slot), several at once, in any order and of any size up to the plan's, and never wait: what is not ready
/// answers `again` and is asked once more from progress. A chunk that answered `error` is given up with
/// release() like any other; begin() that did not answer done has nothing to release.
///
/// Bounce memory is bounded, and each direction has a share of it that the other cannot take. So messages
/// cannot starve each other as long as a Source's chunk is begun only once the receiver has posted memory for
/// it, or soon will without needing more bounce memory itself.
namespace lath::transport {

/// One side's buffer. The layout is shared, so the type may be freed meanwhile.
struct Buffer {
  void* address = nullptr;  ///< may be null, where the layout's offsets are addresses (MPI_BOTTOM)
  Layout layout;

  /// The address of a byte offset of the layout.
  [[nodiscard]] std::byte* at(std::int64_t offset) const noexcept {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                        static_cast<std::uintptr_t>(offset));
  }
};

/// One chunk in hand. Made by begin(), given back by release(); the list's memory stays valid between.
struct Slot {
  PackedRange range;
  std::span<const providers::Segment> list;  ///< valid once begin() (Sink) or ready() (Source) said done
  void* state = nullptr;                     ///< the scheme's own
};

class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual Scheme scheme() const noexcept = 0;
  /// Starts making the range readable. again: no bounce buffer or stream is free.
  virtual Result begin(PackedRange range, Slot& slot) noexcept = 0;
  /// done: slot.list may be handed to the provider. again: a kernel or copy still runs.
  virtual Result ready(Slot& slot) noexcept = 0;
  /// The provider has read the list, or the chunk is given up. Afterwards nothing of the chunk touches the
  /// user's buffer; to that end a chunk given up while its kernel runs is waited for.
  virtual void release(Slot& slot) noexcept = 0;
};

class Sink {
 public:
  virtual ~Sink() = default;
  [[nodiscard]] virtual Scheme scheme() const noexcept = 0;
  /// Reserves memory for the range: slot.list is what the provider shall write. again: no bounce buffer is
  /// free.
  virtual Result begin(PackedRange range, Slot& slot) noexcept = 0;
  /// The provider wrote the first `bytes` of the slot's range: starts moving them to the user's buffer.
  /// again: call again.
  virtual Result arrived(Slot& slot, std::int64_t bytes) noexcept = 0;
  /// done: the user's buffer holds them. again: a kernel or copy still runs.
  virtual Result finished(Slot& slot) noexcept = 0;
  /// The chunk has finished, or is given up (and then no longer the provider's to write); as Source's.
  virtual void release(Slot& slot) noexcept = 0;
};

/// Makes Sources and Sinks over pools of bounce buffers (host memory, pinned host memory, device memory),
/// streams and packers that it owns. One a worker; same thread rules. Its memory is bounded: pools grow on
/// use up to fixed sizes, then `again`. Sources and Sinks, and their slots, must be gone before it. A GPU is
/// first touched by the first buffer in device memory.
class SchemeFactory {
 public:
  /// Reads the tuning (read_tuning()) and throws what that throws. Passes over payload are counted in
  /// `counters` (pack_copies, staged_bytes).
  SchemeFactory(providers::Provider& provider, Counters& counters);
  ~SchemeFactory();

  [[nodiscard]] Capabilities capabilities() const noexcept;
  /// Where a buffer's segments lie. Managed memory, which processor and GPU both reach, counts as host
  /// memory.
  struct Placement {
    providers::MemoryKind memory = providers::MemoryKind::host;  ///< device where any segment is
    bool mixed = false;  ///< of host and device, or of several devices
    int device = -1;     ///< of the first segment on a device
  };
  /// Asks for the buffer's first byte, and for no more where that byte's allocation holds the whole buffer.
  /// Otherwise for the last byte, too, of a buffer with an address, which by MPI's rules lies within one
  /// allocation; and for each allocation met, of one without an address or of at most 64 segments. Does not
  /// look whether host memory is mapped.
  [[nodiscard]] Placement placement(const Buffer& buffer) noexcept;

  /// Null with the reason in `why` where the scheme is not legal for the buffer (Code::not_supported) or its
  /// resources cannot be had (a registration was refused, memory is exhausted); fallback() says what to try
  /// next. The forms without a placement ask for it.
  [[nodiscard]] std::unique_ptr<Source> source(Scheme scheme, const Buffer& buffer,
                                               const Placement& placement,
                                               std::unique_ptr<Error>& why) noexcept;
  [[nodiscard]] std::unique_ptr<Sink> sink(Scheme scheme, const Buffer& buffer, const Placement& placement,
                                           std::unique_ptr<Error>& why) noexcept;
  [[nodiscard]] std::unique_ptr<Source> source(Scheme scheme, const Buffer& buffer,
                                               std::unique_ptr<Error>& why) noexcept;
  [[nodiscard]] std::unique_ptr<Sink> sink(Scheme scheme, const Buffer& buffer,
                                           std::unique_ptr<Error>& why) noexcept;

  /// Bounce memory held now and the most it will ever hold, bytes.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  [[nodiscard]] std::size_t memory_limit_bytes() const noexcept;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace lath::transport
