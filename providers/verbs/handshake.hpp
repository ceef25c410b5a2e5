#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "providers/verbs/address.hpp"
#include "providers/verbs/queue_pair.hpp"

namespace lath::providers::verbs {

/// The queue pairs of a connection: control messages, tagged data, RMA.
enum class Lane : std::uint8_t { control, data, rma };
inline constexpr std::size_t lane_count = 3;

/// A datagram between two workers. Both sides send `join` until each knows that the other has its queue
/// pairs ready: datagrams may be lost, doubled and late. `leave` says that the sender's queue pairs are gone.
struct Handshake {
  enum class Kind : std::uint8_t { join = 1, leave = 2 };
  Kind kind = Kind::join;
  bool established = false;  ///< the sender knows that the receiver is ready: it needs no answer
  std::uint64_t to = 0;      ///< the worker meant: the queue pair's number may have been given to another
  Address from;
  std::uint64_t epoch = 0;  ///< random: tells one attempt of the sender from the next
  std::uint64_t echo = 0;   ///< the receiver's epoch that the sender has joined; 0 before
  std::array<QueueName, lane_count> lanes{};
  std::uint8_t reads_in = 1;  ///< RDMA reads that the sender takes at once
};

inline constexpr std::size_t handshake_bytes = 128;
using HandshakeBytes = std::array<std::byte, handshake_bytes>;

[[nodiscard]] HandshakeBytes encode(const Handshake& handshake);
/// Nothing for bytes that are no handshake of this version, or whose fields cannot be.
[[nodiscard]] std::optional<Handshake> decode_handshake(std::span<const std::byte> bytes);

}  // namespace lath::providers::verbs
