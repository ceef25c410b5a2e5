#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "providers/provider.hpp"
#include "transport/operation.hpp"
#include "transport/wire.hpp"

namespace lath::transport {

class Engine;
class Peer;
struct Outgoing;
struct Request;

/// Memory for one message on its way to the provider.
struct Frame final : Operation {
  Engine* engine = nullptr;
  Frame* next = nullptr;
  Peer* peer = nullptr;
  std::byte* data = nullptr;

  void completed(std::size_t bytes, const Error* error) override;
};

/// Sends a worker's messages in order, one queue a peer: what the provider does not accept at once waits in
/// the peer's backlog and is offered again by flush(). Control messages are copied; a waiting request is only
/// linked in.
class Outbox {
 public:
  Outbox(Engine& engine, providers::Provider& provider, std::uint64_t worker);

  /// Sends a control message, whose first member is the Header, or queues it. A dead peer's are dropped.
  template <class Struct>
  void post(Peer& peer, wire::Kind kind, Struct message, std::span<const std::byte> payload = {}) {
    message.header.kind = kind;
    post_bytes(peer, std::as_bytes(std::span(&message, 1)), payload);
  }

  /// Begins a request through Engine::begin_send(), now or when the backlog before it has gone.
  Result start(Request& request);

  /// A frame to build a message in, or null where all are on their way.
  [[nodiscard]] Frame* take() noexcept;
  void give_back(Frame& frame) noexcept;
  /// Stamps the frame's header and hands its first `bytes` to the provider. done: the frame is taken care of.
  /// Otherwise it is still the caller's, and nothing happened.
  Result transmit(Peer& peer, Frame& frame, std::size_t bytes);

  /// Offers what waits to the provider again.
  void flush();
  [[nodiscard]] bool idle() const noexcept { return backlogged_.empty(); }
  /// Takes everything out of a peer's backlog; its requests are returned linked.
  [[nodiscard]] Outgoing* drop_backlog(Peer& peer) noexcept;

  [[nodiscard]] std::size_t frame_bytes() const noexcept { return frame_bytes_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  void post_bytes(Peer& peer, std::span<const std::byte> fixed, std::span<const std::byte> payload);
  void enqueue(Peer& peer, Outgoing& item);
  Result offer(Peer& peer, Outgoing& item);
  bool flush(Peer& peer);

  Engine& engine_;
  providers::Provider& provider_;
  std::uint64_t worker_;
  std::size_t frame_bytes_ = 0;
  std::unique_ptr<std::byte[]> slab_;
  std::unique_ptr<providers::Registration> registration_;
  std::unique_ptr<Frame[]> frames_;
  Frame* free_ = nullptr;
  std::vector<Peer*> backlogged_;
};

}  // namespace lath::transport
