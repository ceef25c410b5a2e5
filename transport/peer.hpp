#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "providers/provider.hpp"
#include "transport/plan.hpp"
#include "transport/request.hpp"

namespace lath::transport {

/// What a worker tells of itself in its address: what a peer's plans must know of it.
struct Abilities {
  providers::Limits limits;
  Capabilities capabilities;
  std::int64_t eager_window = 0;  ///< eager payload bytes that a peer may have sent and not seen matched
};

/// A worker's address as other processes connect to it.
struct WorkerAddress {
  std::string provider;  ///< "ofi:tcp"
  std::uint64_t worker = 0;
  Abilities abilities;
  std::vector<std::byte> provider_address;

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Throws Error(invalid_argument) for bytes that are not an address.
  static WorkerAddress decode(std::span<const std::byte> bytes);
};

/// A control message that waits in a backlog. Its header's sequence is set when it leaves.
struct Control : Outgoing {
  std::vector<std::byte> bytes;
};

/// The other end of a connection. Owned by its worker; same thread rules.
class Peer {
 public:
  Peer(Engine& engine, std::int32_t source, std::uint64_t worker) noexcept
      : engine_(engine), source_(source), worker_(worker) {}

  [[nodiscard]] Engine& engine() const noexcept { return engine_; }
  /// The number by which this worker names the peer.
  [[nodiscard]] std::int32_t source() const noexcept { return source_; }
  [[nodiscard]] std::uint64_t worker() const noexcept { return worker_; }
  /// "peer 3"
  [[nodiscard]] std::string name() const;

  // The engine's bookkeeping.
  providers::PeerId id = 0;
  Abilities abilities;
  std::uint64_t send_sequence = 0;     ///< of the next message to the peer
  std::uint64_t receive_sequence = 0;  ///< expected next
  std::int64_t send_window = 0;        ///< eager bytes that the peer still grants
  std::int64_t consumed = 0;           ///< eager bytes to grant back
  Outgoing* backlog_first = nullptr;
  Outgoing* backlog_last = nullptr;
  bool in_backlog_list = false;
  std::map<std::uint64_t, std::vector<std::byte>> early;  ///< messages ahead of receive_sequence
  std::unique_ptr<Error> dead;                            ///< why it cannot be reached any more

 private:
  Engine& engine_;
  std::int32_t source_;
  std::uint64_t worker_;
};

}  // namespace lath::transport
