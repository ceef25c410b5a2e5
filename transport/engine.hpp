#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/counters.hpp"
#include "base/result.hpp"
#include "providers/provider.hpp"
#include "transport/address_check.hpp"
#include "transport/delivery.hpp"
#include "transport/envelope.hpp"
#include "transport/matching.hpp"
#include "transport/one_sided.hpp"
#include "transport/outbox.hpp"
#include "transport/peer.hpp"
#include "transport/rendezvous.hpp"
#include "transport/request.hpp"
#include "transport/scheme.hpp"

namespace lath::transport {

class Worker;

/// One item of a worker's memory.
struct MemoryUse {
  std::string what;
  std::size_t bytes = 0;  ///< now
  std::string bound;      ///< what it grows to, in words
};

/// A worker without its locks: owns the provider and everything that moves over it.
class Engine final : private providers::Events {
 public:
  Engine(Worker& worker, std::unique_ptr<providers::Provider> provider);
  ~Engine() override;

  [[nodiscard]] Worker& worker() const noexcept { return worker_; }
  [[nodiscard]] WorkerAddress address() const;
  Peer& connect(std::span<const std::byte> address, std::int32_t source);

  /// A new request, inactive, with its buffer looked at. Null with the reason in `result`.
  [[nodiscard]] Request* make(Request::Kind kind, const Data& data, Result& result);
  Result start(Request& request);
  void free(Request& request) noexcept;
  Result cancel(Request& request);
  /// The envelope of the first message that matches, left where it is, or null.
  [[nodiscard]] Envelope* find_message(const MatchKey& key) noexcept;
  void take_message(Envelope& envelope) noexcept;
  /// Receives a message that take_message() took.
  void receive_taken(Request& request, Envelope& envelope);
  Result progress();

  [[nodiscard]] OneSided& one_sided() noexcept { return one_sided_; }
  [[nodiscard]] Counters counters() const noexcept;
  [[nodiscard]] std::vector<MemoryUse> memory() const;

  // For the parts of the engine.
  [[nodiscard]] providers::Provider& provider() noexcept { return *provider_; }
  [[nodiscard]] const providers::Limits& limits() const noexcept { return provider_->limits(); }
  [[nodiscard]] SchemeFactory& factory() noexcept { return factory_; }
  [[nodiscard]] Outbox& outbox() noexcept { return outbox_; }
  [[nodiscard]] Rendezvous& rendezvous() noexcept { return rendezvous_; }
  [[nodiscard]] EnvelopePool& envelopes() noexcept { return envelopes_; }
  [[nodiscard]] Matching& matching() noexcept { return matching_; }
  [[nodiscard]] RequestPool& requests() noexcept { return requests_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] std::size_t eager_bytes() const noexcept { return eager_bytes_; }
  /// Eager payload bytes that a peer may have sent and not seen matched.
  [[nodiscard]] std::int64_t eager_window() const noexcept;
  [[nodiscard]] const Peer* find_peer(std::uint64_t worker) const noexcept;
  [[nodiscard]] std::uint64_t data_tag(std::uint64_t first, std::int64_t chunk) const noexcept {
    return (first + static_cast<std::uint64_t>(chunk)) & limits().tag_mask;
  }
  /// A request's buffer as the schemes take it, and what a plan must know of it.
  [[nodiscard]] Buffer buffer(const Data& data);
  [[nodiscard]] Summary summary(const Request& request);
  /// Offers a send's first message to the provider (eager.cpp).
  Result begin_send(Request& request);
  /// The request that a peer's message names, or null, noted.
  [[nodiscard]] Request* find(std::uint64_t id, const Peer& peer, const char* what) noexcept;
  void operation_started() noexcept { ++operations_; }
  void count_message(const Request& request) noexcept;

  void moved(Request& request, Scheme scheme) noexcept;
  /// A send's data has left; a receive's is in place, of a message of `sent` bytes.
  void sent(Request& request);
  void received(Request& request, std::int64_t sent);
  void complete(Request& request) noexcept;
  void fail(Request& request, const Error& why);
  /// A message of the peer contradicts itself or what was agreed: fails the request that it names.
  void corrupt(Peer& peer, Request& request, const char* what);
  void send_abort(Peer& peer, std::uint64_t request, const Error& why);
  /// The peer cannot be reached any more. Takes effect at the end of the step of progress.
  void lose(Peer& peer, const Error& why);
  /// Loses the peer if that is what the error says.
  void note_failure(Peer& peer, const Error& why);

  /// Messages of workers that are not connected yet, bytes.
  static constexpr std::size_t most_held_bytes = std::size_t{64} << 20;

 private:
  void on_message(std::span<const std::byte> bytes) override;
  void on_completion(providers::Context context, std::size_t bytes, const Error* error) override;
  void on_unreachable(providers::PeerId id, const Error& error) override;

  void look_at(Request& request);
  Result check(const Request& request);
  [[nodiscard]] const Layout& layout(const Data& data);
  Result send_eager(Request& request);
  Result send_rts(Request& request);
  void hold(std::uint64_t worker, std::span<const std::byte> bytes);
  void in_sequence(Peer& peer, std::span<const std::byte> bytes);
  void dispatch(Peer& peer, std::span<const std::byte> bytes);
  void on_eager(Peer& peer, const wire::Message& message);
  void on_rts(Peer& peer, const wire::Rts& rts);
  void on_addressed_rts(Peer& peer, const wire::Rts& rts);
  void on_abort(Peer& peer, const wire::Message& message);
  void on_window(Peer& peer, const wire::Window& window);
  void deliver(Request& request, const MatchKey& key, std::span<const std::byte> payload);
  void consume(Peer& peer, std::int64_t bytes);
  /// The provider is broken: every peer is lost, and every posted receive fails.
  void fail_all(const Error& why);
  /// Whether the request cannot end without the peer.
  [[nodiscard]] static bool waits_for(const Request& request, const Peer& peer) noexcept;
  void bury_lost();
  void bury(Peer& peer);

  Worker& worker_;
  std::unique_ptr<providers::Provider> provider_;
  std::uint64_t id_;
  std::size_t eager_bytes_;
  bool check_buffers_;
  KnownMemory known_memory_;
  Layout contiguous_ = Layout::contiguous(0);  ///< that of the last message without a layout
  bool uses_gpu_;
  Counters counters_;
  Counters driver_at_start_;
  SchemeFactory factory_;
  EnvelopePool envelopes_;
  Matching matching_;
  Outbox outbox_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::unordered_map<std::uint64_t, Peer*> peers_by_worker_;
  Peer* last_peer_ = nullptr;  ///< the sender of the last message
  std::vector<Peer*> lost_;
  bool any_dead_ = false;
  std::unordered_map<std::uint64_t, std::vector<std::vector<std::byte>>> held_;
  std::size_t held_bytes_ = 0;
  std::size_t operations_ = 0;  ///< handed to the provider with a context, not ended
  RequestPool requests_;
  Deliveries deliveries_;
  Rendezvous rendezvous_;
  OneSided one_sided_;
};

}  // namespace lath::transport
