#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "base/result.hpp"

/// All that the transport knows of a NIC. One worker owns one Provider; calls are not thread safe, the worker
/// serialises them.
namespace lath::providers {

enum class MemoryKind : std::uint8_t { host, device };

/// What the device grants, read back after creation, never assumed. Lengths are segments of one list.
struct Limits {
  std::size_t send_list = 1, receive_list = 1, rma_local_list = 1, rma_remote_list = 1;
  std::size_t inject_bytes =
      0;  ///< host memory only: send() of this much is complete, and its memory free, on return
  std::size_t max_message = 0;       ///< bytes of one send, tagged send or RMA operation
  std::size_t max_control = 0;       ///< bytes of one send(): the size of the peer's receive buffers
  std::uint64_t tag_mask = ~0ULL;    ///< bits of the data tag that travel
  std::size_t queue_depth = 0;       ///< operations that may be outstanding before `again`
  bool rma = false;                  ///< read() and write() work
  bool batched_writes = false;       ///< write() takes a null context: many writes, one completion
  bool device_memory = false;        ///< proven by a loop-back transfer at start
  bool local_registration = false;   ///< segments need a registration, also for sends and receives
  bool ordered = false;              ///< send() arrives in order at each peer
  bool manual_progress = true;       ///< nothing moves outside poll()
  std::string device_memory_reason;  ///< why device_memory is false
};

/// One registered range; unregisters when destroyed. key and address are what a peer's read()/write() names.
class Registration {
 public:
  virtual ~Registration() = default;
  [[nodiscard]] virtual std::uint64_t key() const noexcept = 0;
  /// The remote address of the range's first byte (0 for zero-based providers).
  [[nodiscard]] virtual std::uint64_t remote_address() const noexcept = 0;
};

struct Segment {
  void* address = nullptr;
  std::size_t length = 0;  ///< never 0 in a list
  const Registration* registration =
      nullptr;  ///< needed where limits().local_registration or the memory is device memory
};

struct RemoteSegment {
  std::uint64_t address = 0;  ///< Registration::remote_address() + offset
  std::size_t length = 0;
  std::uint64_t key = 0;
};

using PeerId = std::uint32_t;  ///< given by connect()
using Context = void*;         ///< the caller's, handed back in the Completion of the operation

/// Bits of an operation's flags.
inline constexpr unsigned more =
    1;  ///< another operation to the same peer follows at once: the doorbell may wait for it

/// What poll() reports.
class Events {
 public:
  virtual ~Events() = default;
  /// A message of send() arrived. The bytes are valid during the call only.
  virtual void on_message(std::span<const std::byte> bytes) = 0;
  /// An operation with a non-null context ended: its memory is free. bytes: received length of a tagged
  /// receive, else 0. error is null on success. A failed operation ends exactly once, too.
  virtual void on_completion(Context context, std::size_t bytes, const Error* error) = 0;
  /// A peer is dead: told once, within seconds of its death and after all that it had sent. Every operation
  /// with it ends as well, before or soon after. The error says how that was found.
  virtual void on_unreachable(PeerId peer, const Error& error) = 0;
};

class Provider {
 public:
  virtual ~Provider() = default;

  /// "ofi:tcp", as LATH_PROVIDER names it.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual const Limits& limits() const noexcept = 0;
  /// What a peer's connect() takes: opaque, at most a few hundred bytes.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;
  /// Throws Error(unreachable or invalid_argument) for an address that is not of this provider.
  virtual PeerId connect(std::span<const std::byte> address) = 0;
  virtual void disconnect(PeerId peer) noexcept = 0;

  /// Registers for local use and, where `remote`, for peers' RMA; `writable` false asks for no write access
  /// (read-only memory). Null with the reason in `why` on refusal; never throws, leaves nothing behind.
  virtual std::unique_ptr<Registration> register_memory(void* address, std::size_t length, MemoryKind kind,
                                                        bool writable, bool remote,
                                                        std::unique_ptr<Error>& why) noexcept = 0;

  /// A message into one of the peer's receive buffers, at most limits().max_control bytes in
  /// limits().send_list segments. done: accepted; a completion follows unless context is null. again: nothing
  /// happened. error: this operation alone failed. A null context asks for injection: it is for host memory
  /// of at most limits().inject_bytes in all, which is free on return. Every other operation needs a context.
  virtual Result send(PeerId peer, std::span<const Segment> list, Context context,
                      unsigned flags) noexcept = 0;
  /// Zero-copy pair, matched by (peer, tag) in posting order; tag within limits().tag_mask. Not every device
  /// can match by peer: a tag must not be awaited from two peers at the same time. A message longer than its
  /// receive ends it with Code::truncated; devices may lose the connection over that, so it must not be a
  /// rule.
  virtual Result send_tagged(PeerId peer, std::span<const Segment> list, std::uint64_t tag, Context context,
                             unsigned flags) noexcept = 0;
  virtual Result receive_tagged(PeerId peer, std::span<const Segment> list, std::uint64_t tag,
                                Context context) noexcept = 0;
  /// Asks for an unmatched receive_tagged to end with Code::cancelled; its completion still follows.
  virtual void cancel(Context context) noexcept = 0;
  /// RMA. Both lists have the same total. write() completes when the data is visible at the peer. Where
  /// limits().batched_writes, one with a null context and `more` begins or continues a batch, which the next
  /// write to that peer with a context closes: the batch has one completion, when all of it is visible, with
  /// the first error of any; an error is answered at once only where nothing of the batch was taken.
  virtual Result write(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
                       Context context, unsigned flags) noexcept = 0;
  virtual Result read(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
                      Context context, unsigned flags) noexcept = 0;

  /// Drives progress and reports what happened; done if anything did, again if not, error if the provider
  /// itself is broken.
  virtual Result poll(Events& events) noexcept = 0;

  /// work_requests, doorbells, wire_bytes and registrations are counted here. A work request is a send,
  /// tagged send, write or read; receives are none.
  [[nodiscard]] virtual const Counters& counters() const noexcept = 0;
  /// Host memory the provider holds for its own buffers, bytes.
  [[nodiscard]] virtual std::size_t memory_bytes() const noexcept = 0;
};

}  // namespace lath::providers
