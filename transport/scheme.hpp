#pragma once

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
/// (Slot), several at once, in any order and of any size, and never wait: what is not ready answers `again`
/// and is asked once more from progress.
namespace lath::transport {

/// One side's buffer. The layout is shared, so the type may be freed meanwhile.
struct Buffer {
  void* address = nullptr;
  Layout layout;
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
  /// The provider has read the list, or the chunk is given up.
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
  virtual void release(Slot& slot) noexcept = 0;
};

/// Makes Sources and Sinks over pools of bounce buffers (pinned host memory, device memory), streams and
/// packers that it owns. One a worker; same thread rules. Its memory is bounded: pools grow on use up to
/// fixed sizes, then `again`.
class SchemeFactory {
 public:
  SchemeFactory(providers::Provider& provider, Counters& counters);
  ~SchemeFactory();

  [[nodiscard]] Capabilities capabilities() const noexcept;
  /// The kind of every segment's memory: host, device, or mixed. Checks that host segments are mapped only on
  /// the error path (unmapped memory ends as Code::bad_address on its request). For long layouts looks at
  /// each allocation once.
  struct Placement {
    providers::MemoryKind memory = providers::MemoryKind::host;
    bool mixed = false;
    int device = -1;
  };
  [[nodiscard]] Placement placement(const Buffer& buffer) noexcept;

  /// Null with the reason in `why` where the scheme is not legal for the buffer or its resources cannot be
  /// had.
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
