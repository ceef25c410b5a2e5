#include <fmt/format.h>

#include <cstring>

#include "base/log.hpp"
#include "transport/engine.hpp"

namespace lath::transport {
namespace {

// How far ahead of its turn a message may be. Providers reorder by a queue's depth, corruption by anything.
constexpr std::uint64_t largest_lead = 1 << 20;

}  // namespace

void Engine::on_message(std::span<const std::byte> bytes) {
  wire::Header header;
  if (bytes.size() < sizeof header) return log::error("a message of {} bytes was dropped", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != wire::version)
    return log::error("a message of version {} was dropped; this is version {}", header.version,
                      wire::version);
  if (last_peer_ == nullptr || last_peer_->worker() != header.worker) {
    const auto found = peers_by_worker_.find(header.worker);
    if (found == peers_by_worker_.end()) return hold(header.worker, bytes);
    last_peer_ = found->second;
  }
  in_sequence(*last_peer_, bytes);
}

// A message of a worker that is not connected yet. Its payload is bounded by the sender's window; the bound
// here is against senders that never heard of windows.
void Engine::hold(std::uint64_t worker, std::span<const std::byte> bytes) {
  if (held_bytes_ + bytes.size() > most_held_bytes)
    return log::error("a message of the unconnected worker {:#x} was dropped: {} bytes wait already", worker,
                      held_bytes_);
  held_bytes_ += bytes.size();
  held_[worker].emplace_back(bytes.begin(), bytes.end());
}

void Engine::in_sequence(Peer& peer, std::span<const std::byte> bytes) {
  wire::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.sequence != peer.receive_sequence) {
    const std::uint64_t lead = header.sequence - peer.receive_sequence;
    if (lead > largest_lead)
      return log::error("{}: message {} was dropped where {} is next", peer.name(), header.sequence,
                        peer.receive_sequence);
    peer.early.try_emplace(header.sequence, bytes.begin(), bytes.end());
    return;
  }
  ++peer.receive_sequence;
  dispatch(peer, bytes);
  while (!peer.early.empty() && peer.early.begin()->first == peer.receive_sequence) {
    const auto next = peer.early.extract(peer.early.begin());
    ++peer.receive_sequence;
    dispatch(peer, next.mapped());
  }
}

void Engine::dispatch(Peer& peer, std::span<const std::byte> bytes) {
  wire::Message message;
  if (const char* wrong = wire::parse(bytes, message)) {
    log::error("{}: {}: a {} message of {} bytes was dropped", peer.name(), wrong,
               wire::name(message.header.kind), bytes.size());
    if (message.request == 0) return;
    if (Request* request = find(message.request, peer, "corrupt message")) corrupt(peer, *request, wrong);
    return;
  }
  switch (message.header.kind) {
    case wire::Kind::eager:
      return on_eager(peer, message);
    case wire::Kind::rts:
      return message.rts.receiver != 0 ? on_addressed_rts(peer, message.rts) : on_rts(peer, message.rts);
    case wire::Kind::cts:
      return rendezvous_.on_cts(peer, message.cts);
    case wire::Kind::credit:
      return rendezvous_.on_credit(peer, message.credit);
    case wire::Kind::halt:
      return rendezvous_.on_halt(peer, message.halt);
    case wire::Kind::abort:
      return on_abort(peer, message);
    case wire::Kind::window:
      return on_window(peer, message.window);
    case wire::Kind::put:
    case wire::Kind::get:
      return one_sided_.on_operation(peer, message.one_sided, message.payload);
    case wire::Kind::layout_part:
      return one_sided_.on_layout_part(peer, message.layout_part, message.payload);
    case wire::Kind::placed:
      return one_sided_.on_placed(peer, message.placed);
    case wire::Kind::region_open:
      return one_sided_.on_region_open(peer, message.region);
    case wire::Kind::region_opened:
      return one_sided_.on_region_opened(peer, message.region);
    case wire::Kind::region_closed:
      return one_sided_.on_region_closed(peer, message.region);
  }
}

void Engine::on_rts(Peer& peer, const wire::Rts& rts) {
  Envelope& envelope = envelopes_.take();
  envelope.key = {rts.header.context, peer.source(), rts.tag};
  envelope.peer = &peer;
  envelope.sender = rts.sender;
  envelope.set_side(rts.side);
  if (Posted* posted = matching_.take_posted(envelope.key)) {
    auto& request = static_cast<Request&>(*posted);
    request.posted = false;
    return rendezvous_.matched(request, envelope);
  }
  matching_.add(envelope);
}

// The answer to a get.
void Engine::on_addressed_rts(Peer& peer, const wire::Rts& rts) {
  Request* request = find(rts.receiver, peer, "rts");
  if (request == nullptr) return;
  const bool under_way = rendezvous_.holds(*request) || !request->announced;
  if (request->kind != Request::Kind::get || under_way || rts.side.bytes != request->data.bytes)
    return corrupt(peer, *request, "an rts does not fit the get that it answers");
  Envelope& envelope = envelopes_.take();
  envelope.key = {0, peer.source(), 0};
  envelope.peer = &peer;
  envelope.sender = rts.sender;
  envelope.set_side(rts.side);
  rendezvous_.matched(*request, envelope);
}

void Engine::on_abort(Peer& peer, const wire::Message& message) {
  Request* request = find(message.abort.request, peer, "abort");
  if (request == nullptr) return;
  std::string text(reinterpret_cast<const char*>(message.payload.data()), message.payload.size());
  for (char& letter : text)
    if (letter < ' ' || letter > '~') letter = '?';
  rendezvous_.on_abort(*request, std::make_unique<Error>(static_cast<Code>(message.abort.code),
                                                         fmt::format("{} says: {}", peer.name(), text)));
}

}  // namespace lath::transport
