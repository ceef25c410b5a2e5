#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "transport/plan.hpp"

/// The messages that workers send each other: fixed little-endian structs, some with a payload behind. See
/// docs/architecture.md, "A message".
namespace lath::transport::wire {

static_assert(std::endian::native == std::endian::little, "wire structs are copied as they lie in memory");

inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t largest_layout = std::size_t{64} << 20;  ///< bytes of an encoded layout
inline constexpr std::size_t largest_text = 256;                      ///< bytes of an error's text

enum class Kind : std::uint8_t {
  eager = 1,      ///< a whole message
  rts,            ///< a message's envelope: ready to send
  cts,            ///< the receiver's plan: clear to send
  credit,         ///< more receives are posted
  halt,           ///< the sender sends no chunk from this one on
  abort,          ///< the peer's request has failed here
  window,         ///< eager bytes were consumed
  put,            ///< an rts into a region
  get,            ///< asks for an rts out of a region
  layout_part,    ///< more of the encoded layout of a put or get
  placed,         ///< a put's data is in place
  region_open,    ///< asks to read and write a region directly
  region_opened,  ///< granted
  region_closed,  ///< refused, or over
};

/// Before every message. `sequence` counts the messages from one worker to another, from 0.
struct Header {
  std::uint8_t version = wire::version;
  Kind kind = Kind::eager;
  std::uint16_t reserved = 0;
  std::uint32_t context = 0;  ///< of eager and rts; else 0
  std::uint64_t worker = 0;   ///< the sender's id
  std::uint64_t sequence = 0;
};

struct Eager {
  Header header;
  std::int64_t tag = 0;
  std::int64_t bytes = 0;  ///< of the payload behind
};

/// One side's Summary, as it travels.
struct Side {
  std::int64_t bytes = 0;
  std::int64_t segments = 0;
  std::int64_t uniform_block = 0;
  std::uint64_t hash_low = 0;
  std::uint64_t hash_high = 0;
  std::uint8_t alignment_log2 = 0;
  std::uint8_t memory = 0;
  std::uint8_t mixed = 0;
  std::uint8_t reserved[5] = {};
};

struct Rts {
  Header header;
  std::int64_t tag = 0;
  std::uint64_t sender = 0;    ///< the sending request
  std::uint64_t receiver = 0;  ///< of an answer to get: the receiving request; else 0
  Side side;
};

struct Cts {
  Header header;
  std::uint64_t sender = 0;
  std::uint64_t receiver = 0;
  std::int64_t begin = 0;  ///< packed range that is wanted
  std::int64_t end = 0;
  std::int64_t chunk_bytes = 0;
  std::int64_t credit = 0;  ///< chunks posted so far
  std::uint64_t tag = 0;    ///< data tag of the first chunk; the others count up
  std::uint32_t round = 0;  ///< counts the plans of this message
  std::uint16_t slots = 1;  ///< chunks in flight
  Scheme source = Scheme::staged;
  Scheme sink = Scheme::staged;
};

struct Credit {
  Header header;
  std::uint64_t sender = 0;
  std::int64_t credit = 0;  ///< chunks posted so far
  std::uint32_t round = 0;
  std::uint32_t reserved = 0;
};

struct Halt {
  Header header;
  std::uint64_t receiver = 0;
  std::int64_t chunk = 0;  ///< of this round; earlier ones are on the wire
  std::uint32_t round = 0;
  std::uint32_t code = 0;  ///< lath::Code why, or 0: the plan cannot be carried out here, make another
};

struct Abort {
  Header header;
  std::uint64_t request = 0;  ///< of the peer that is told
  std::uint32_t code = 0;
  std::uint32_t text_bytes = 0;  ///< of the payload behind
};

struct Window {
  Header header;
  std::int64_t bytes = 0;
};

/// Put and get: an operation on a peer's region. A part of the target's encoded layout lies behind.
struct OneSided {
  Header header;
  std::uint64_t request = 0;  ///< the origin's
  std::uint64_t region = 0;
  std::uint64_t secret = 0;  ///< of the region
  std::int64_t offset = 0;   ///< of the target elements in the region
  std::uint64_t layout_bytes = 0;
  Side side;  ///< the origin's
};

struct LayoutPart {
  Header header;
  std::uint64_t request = 0;  ///< the origin's, as in the put or get
  std::uint64_t offset = 0;   ///< in the encoded layout
};

struct Placed {
  Header header;
  std::uint64_t request = 0;
};

/// Of region_open, region_opened and region_closed. Zero where a kind does not say it.
struct RegionState {
  Header header;
  std::uint64_t region = 0;
  std::uint64_t secret = 0;
  std::uint64_t bytes = 0;
  std::uint64_t rma_key = 0;
  std::uint64_t rma_address = 0;
  std::uint8_t rma = 0;  ///< 1: rma_key and rma_address reach it
  std::uint8_t writable = 0;
  std::uint8_t reserved[6] = {};
};

/// A message read and checked. `payload` is a view of the bytes that were read.
struct Message {
  union {
    Header header;
    Eager eager;
    Rts rts;
    Cts cts;
    Credit credit;
    Halt halt;
    Abort abort;
    Window window;
    OneSided one_sided;
    LayoutPart layout_part;
    Placed placed;
    RegionState region;
  };
  std::span<const std::byte> payload;
  /// A corrupt message whose header was good: `header` stands, `request` is what it names, or 0.
  bool header_valid = false;
  std::uint64_t request = 0;

  Message() noexcept : header{} {}
};

/// Reads one message, checking every field. Null if it is good, else what is wrong with it. Never reads
/// outside `bytes`.
[[nodiscard]] const char* parse(std::span<const std::byte> bytes, Message& out) noexcept;

[[nodiscard]] std::string_view name(Kind kind) noexcept;

[[nodiscard]] Side to_wire(const Summary& summary, bool mixed) noexcept;
/// Of a Side that parse() has checked.
[[nodiscard]] Summary from_wire(const Side& side) noexcept;

}  // namespace lath::transport::wire
