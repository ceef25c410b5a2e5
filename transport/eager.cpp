#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "datatypes/cursor.hpp"
#include "transport/engine.hpp"

namespace lath::transport {

Result Engine::begin_send(Request& request) {
  const Peer& peer = *request.peer;
  const std::int64_t bytes = request.data.bytes;
  if (request.synchronous || request.one_sided != nullptr) return send_rts(request);
  if (bytes == 0) return send_eager(request);
  const std::size_t peer_takes = peer.abilities.limits.max_control - sizeof(wire::Eager);
  const bool fits = bytes <= static_cast<std::int64_t>(std::min(eager_bytes_, peer_takes));
  // A forced scheme is carried out for small messages, too: by rendezvous.
  const bool eager =
      fits && bytes <= peer.send_window && !request.device && !request.mixed && !tuning().forced;
  return eager ? send_eager(request) : send_rts(request);
}

Result Engine::send_eager(Request& request) {
  Frame* frame = outbox_.take();
  if (frame == nullptr) return Result::again();
  Peer& peer = *request.peer;
  const std::int64_t bytes = request.data.bytes;
  wire::Eager message;
  message.header.kind = wire::Kind::eager;
  message.header.context = request.key.context;
  message.tag = request.key.tag;
  message.bytes = bytes;
  std::memcpy(frame->data, &message, sizeof message);
  std::byte* payload = frame->data + sizeof message;
  if (request.data.layout)
    pack(*request.data.layout, request.data.address, {0, bytes}, payload);
  else if (bytes > 0)
    std::memcpy(payload, request.data.address, static_cast<std::size_t>(bytes));
  Result result = outbox_.transmit(peer, *frame, sizeof message + static_cast<std::size_t>(bytes));
  if (!result.is_done()) {
    outbox_.give_back(*frame);
    if (result.is_error()) note_failure(peer, result.error());
    return result;
  }
  if (bytes > 0) {
    ++counters_.pack_copies;
    counters_.staged_bytes += static_cast<std::uint64_t>(bytes);
    peer.send_window -= bytes;
    moved(request, Scheme::host_pack);
  }
  complete(request);
  return result;
}

Result Engine::send_rts(Request& request) {
  Frame* frame = outbox_.take();
  if (frame == nullptr) return Result::again();
  Peer& peer = *request.peer;
  wire::Rts message;
  message.header.kind = wire::Kind::rts;
  message.header.context = request.key.context;
  message.tag = request.key.tag;
  message.sender = request.id();
  message.receiver = request.one_sided != nullptr ? request.one_sided->origin : 0;
  message.side = wire::to_wire(summary(request), request.mixed);
  std::memcpy(frame->data, &message, sizeof message);
  Result result = outbox_.transmit(peer, *frame, sizeof message);
  if (result.is_done()) {
    request.announced = true;
    return result;
  }
  outbox_.give_back(*frame);
  if (result.is_error()) note_failure(peer, result.error());
  return result;
}

void Engine::on_eager(Peer& peer, const wire::Message& message) {
  const MatchKey key{message.header.context, peer.source(), message.eager.tag};
  if (Posted* posted = matching_.take_posted(key)) {
    auto& request = static_cast<Request&>(*posted);
    request.posted = false;
    request.peer = &peer;
    deliver(request, key, message.payload);
    return consume(peer, message.eager.bytes);
  }
  Envelope& envelope = envelopes_.take();
  envelope.key = key;
  envelope.peer = &peer;
  envelope.bytes = message.eager.bytes;
  if (!message.payload.empty()) envelopes_.keep_payload(envelope, message.payload);
  matching_.add(envelope);
}

void Engine::deliver(Request& request, const MatchKey& key, std::span<const std::byte> payload) {
  const auto sent = static_cast<std::int64_t>(payload.size());
  const std::int64_t fits = std::min(sent, request.data.bytes);
  request.status = {key.source, key.tag, fits};
  if (fits > 0) {
    if (request.device || request.mixed)
      return deliveries_.start(request, payload.first(static_cast<std::size_t>(fits)), sent);
    ++counters_.pack_copies;
    counters_.staged_bytes += static_cast<std::uint64_t>(fits);
    moved(request, Scheme::host_pack);
    if (request.data.layout)
      unpack(*request.data.layout, request.data.address, {0, fits}, payload.data());
    else
      std::memcpy(request.data.address, payload.data(), static_cast<std::size_t>(fits));
  }
  received(request, sent);
}

void Engine::consume(Peer& peer, std::int64_t bytes) {
  peer.consumed += bytes;
  if (peer.consumed < eager_window() / 2) return;
  wire::Window message;
  message.bytes = std::exchange(peer.consumed, 0);
  outbox_.post(peer, wire::Kind::window, message);
}

void Engine::on_window(Peer& peer, const wire::Window& window) {
  if (window.bytes > peer.abilities.eager_window - peer.send_window) {
    log::error("{}: gives back more eager bytes than were sent", peer.name());
    return;
  }
  peer.send_window += window.bytes;
}

Envelope* Engine::find_message(const MatchKey& key) noexcept {
  return static_cast<Envelope*>(matching_.find_arrival(key));
}

void Engine::take_message(Envelope& envelope) noexcept {
  matching_.remove(envelope);
}

void Engine::receive_taken(Request& request, Envelope& envelope) {
  request.state = Request::State::active;
  request.peer = envelope.peer;
  if (envelope.sender != 0) return rendezvous_.matched(request, envelope);
  Peer& peer = *envelope.peer;
  const std::int64_t bytes = envelope.bytes;
  const MatchKey key = envelope.key;
  deliver(request, key, {envelope.payload, static_cast<std::size_t>(bytes)});
  envelopes_.give_back(envelope);
  consume(peer, bytes);
}

}  // namespace lath::transport
