#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "transport/engine.hpp"
#include "transport/rendezvous.hpp"

namespace lath::transport {
namespace {

constexpr std::uint32_t most_attempts = 16;

}  // namespace

void ReceiveSlot::completed(std::size_t received, const Error* error) {
  bytes = received;
  transfer->attention = true;
  phase = error == nullptr ? Phase::landed : Phase::ended;
  if (error == nullptr) return;
  // A receive that was cancelled because its chunk never comes is no failure.
  if (error->lath_code() == Code::cancelled && transfer->stopping) return;
  if (transfer->error == nullptr) transfer->error = std::make_unique<Error>(*error);
  transfer->stopping = true;
  transfer->request->engine->note_failure(*transfer->peer, *error);
}

PackedRange ReceiveTransfer::range(std::int64_t chunk) const noexcept {
  const std::int64_t from = begin + chunk * plan.chunk_bytes;
  return {from, wanted - from > plan.chunk_bytes ? from + plan.chunk_bytes : wanted};
}

void Rendezvous::matched(Request& request, Envelope& envelope) {
  request.peer = envelope.peer;
  request.status.source = envelope.key.source;
  request.status.tag = envelope.key.tag;
  request.status.bytes = std::min(envelope.bytes, request.data.bytes);
  if (request.peer->dead != nullptr) {
    const Error why = *request.peer->dead;
    engine_.envelopes().give_back(envelope);
    return engine_.fail(request, why);
  }
  if (receiving_.size() < most_receiving)
    begin(request, envelope);
  else
    waiting_.push_back({&request, &envelope});
}

void Rendezvous::begin(Request& request, Envelope& envelope) {
  if (request.receiving == nullptr) request.receiving = std::make_unique<ReceiveTransfer>();
  ReceiveTransfer& transfer = *request.receiving;
  transfer.request = &request;
  transfer.peer = envelope.peer;
  transfer.sender = envelope.sender;
  transfer.source = envelope.summary();
  transfer.source_mixed = envelope.mixed != 0;
  transfer.sink_mixed = request.mixed;
  transfer.wanted = request.status.bytes;
  transfer.round = 0;
  transfer.begin = 0;
  transfer.attempts = 0;
  transfer.sender_failed = transfer.abort_sent = false;
  transfer.active = true;
  engine_.envelopes().give_back(envelope);
  receiving_.push_back(&transfer);
  make_plan(transfer);
}

void Rendezvous::make_plan(ReceiveTransfer& transfer) {
  Request& request = *transfer.request;
  const Capabilities capabilities = engine_.factory().capabilities();
  const Abilities& peer = transfer.peer->abilities;
  const Summary sink = engine_.summary(request);
  transfer.stopping = transfer.told = false;
  transfer.halted_at.reset();
  transfer.reserved = transfer.posted = transfer.announced = transfer.retired = 0;
  transfer.plan = plans_.find(
      {transfer.peer, transfer.source, sink, transfer.source_mixed, transfer.sink_mixed, capabilities}, [&] {
        return transport::make_plan(transfer.source, peer.limits, peer.capabilities, transfer.source_mixed,
                                    sink, engine_.limits(), capabilities, transfer.sink_mixed);
      });
  const std::int64_t rest = transfer.wanted - transfer.begin;
  transfer.chunks = rest > 0 ? (rest - 1) / transfer.plan.chunk_bytes + 1 : 0;
  transfer.tag = next_tag_;
  next_tag_ += static_cast<std::uint64_t>(transfer.chunks);
  const std::int64_t slots =
      std::clamp<std::int64_t>(transfer.plan.chunks_in_flight, 1, std::max<std::int64_t>(transfer.chunks, 1));
  // Kept for the next start of a persistent request, whose plan is the same.
  if (transfer.slots.size() != static_cast<std::size_t>(slots))
    transfer.slots = std::vector<ReceiveSlot>(static_cast<std::size_t>(slots));
  for (ReceiveSlot& slot : transfer.slots) {
    slot.transfer = &transfer;
    slot.phase = ReceiveSlot::Phase::ended;
  }
  transfer.attention = true;
  if (transfer.chunks > 0 && !make_sink(transfer)) transfer.stopping = true;
}

bool Rendezvous::make_sink(ReceiveTransfer& transfer) {
  Request& request = *transfer.request;
  const Capabilities capabilities = engine_.factory().capabilities();
  const Buffer buffer = engine_.buffer(request.data);
  const Summary side = engine_.summary(request);
  Scheme scheme = transfer.plan.sink;
  for (;;) {
    if (transfer.sink != nullptr && transfer.sink->scheme() == scheme) break;
    std::unique_ptr<Error> why;
    transfer.sink = engine_.factory().sink(scheme, buffer, why);
    if (transfer.sink != nullptr) break;
    if (scheme == Scheme::staged) {
      transfer.sink_mixed = true;
      if (++transfer.attempts > most_attempts) fail(transfer, *why);
      return false;
    }
    scheme = fallback(scheme, side, capabilities, request.mixed);
  }
  engine_.moved(request, scheme);
  return true;
}

void Rendezvous::reserve_chunks(ReceiveTransfer& transfer) {
  const auto slots = static_cast<std::int64_t>(transfer.slots.size());
  while (!transfer.stopping && transfer.reserved < transfer.chunks &&
         transfer.reserved - transfer.retired < slots) {
    ReceiveSlot& slot = transfer.slot(transfer.reserved);
    Result result = transfer.sink->begin(transfer.range(transfer.reserved), slot.slot);
    if (result.is_again()) {
      transfer.attention = true;
      return;
    }
    if (result.is_error()) return stop(transfer, result.error());
    slot.phase = ReceiveSlot::Phase::reserved;
    ++transfer.reserved;
  }
}

void Rendezvous::post_chunks(ReceiveTransfer& transfer) {
  while (!transfer.stopping && transfer.posted < transfer.reserved) {
    ReceiveSlot& slot = transfer.slot(transfer.posted);
    // Set first: a provider may complete the receive within the call.
    slot.phase = ReceiveSlot::Phase::posted;
    const std::uint64_t tag = engine_.data_tag(transfer.tag, transfer.posted);
    Result result = engine_.provider().receive_tagged(transfer.peer->id, slot.slot.list, tag, &slot);
    if (!result.is_done()) slot.phase = ReceiveSlot::Phase::reserved;
    if (result.is_again()) {
      transfer.attention = true;
      return;
    }
    if (result.is_error()) {
      engine_.note_failure(*transfer.peer, result.error());
      return fail(transfer, result.error());
    }
    engine_.operation_started();
    ++transfer.posted;
  }
}

void Rendezvous::announce(ReceiveTransfer& transfer) {
  if (transfer.stopping || (transfer.told && transfer.posted == transfer.announced)) return;
  if (!transfer.told && transfer.posted == 0 && transfer.chunks > 0) return;
  transfer.announced = transfer.posted;
  if (transfer.told) {
    wire::Credit message;
    message.sender = transfer.sender;
    message.credit = transfer.posted;
    message.round = transfer.round;
    return engine_.outbox().post(*transfer.peer, wire::Kind::credit, message);
  }
  transfer.told = true;
  wire::Cts message;
  message.sender = transfer.sender;
  message.receiver = transfer.request->id();
  message.begin = transfer.begin;
  message.end = transfer.wanted;
  message.chunk_bytes = transfer.plan.chunk_bytes;
  message.credit = transfer.posted;
  message.tag = transfer.tag;
  message.round = transfer.round;
  message.slots = static_cast<std::uint16_t>(transfer.slots.size());
  message.source = transfer.plan.source;
  message.sink = transfer.sink != nullptr ? transfer.sink->scheme() : transfer.plan.sink;
  engine_.outbox().post(*transfer.peer, wire::Kind::cts, message);
}

void Rendezvous::move_chunks(ReceiveTransfer& transfer) {
  for (std::int64_t chunk = transfer.retired; chunk < transfer.posted; ++chunk) {
    ReceiveSlot& slot = transfer.slot(chunk);
    if (slot.phase == ReceiveSlot::Phase::landed) {
      const PackedRange range = slot.slot.range;
      if (static_cast<std::int64_t>(slot.bytes) != range.bytes()) {
        slot.phase = ReceiveSlot::Phase::ended;
        fail(transfer, Error(Code::corrupt, fmt::format("a chunk of {} bytes from {} came with {}",
                                                        range.bytes(), transfer.peer->name(), slot.bytes)));
        continue;
      }
      Result result = transfer.sink->arrived(slot.slot, range.bytes());
      if (result.is_again()) transfer.attention = true;
      if (result.is_done()) slot.phase = ReceiveSlot::Phase::moving;
      if (result.is_error()) {
        slot.phase = ReceiveSlot::Phase::ended;
        fail(transfer, result.error());
      }
    }
    if (slot.phase == ReceiveSlot::Phase::moving) {
      Result result = transfer.sink->finished(slot.slot);
      if (result.is_again()) transfer.attention = true;
      if (!result.is_again()) slot.phase = ReceiveSlot::Phase::ended;
      if (result.is_error()) fail(transfer, result.error());
    }
  }
  while (transfer.retired < transfer.posted &&
         transfer.slot(transfer.retired).phase == ReceiveSlot::Phase::ended)
    transfer.sink->release(transfer.slot(transfer.retired++).slot);
}

// A plan that this side cannot carry on with: the rest is received by another.
void Rendezvous::stop(ReceiveTransfer& transfer, const Error& why) {
  transfer.stopping = true;
  transfer.sink_mixed = true;
  if (++transfer.attempts > most_attempts || why.lath_code() == Code::bad_address) fail(transfer, why);
}

void Rendezvous::fail(ReceiveTransfer& transfer, const Error& why) {
  transfer.stopping = true;
  transfer.attention = true;
  if (transfer.error == nullptr) transfer.error = std::make_unique<Error>(why);
}

void Rendezvous::on_halt(Peer& peer, const wire::Halt& halt) {
  Request* request = engine_.find(halt.receiver, peer, "halt");
  if (request == nullptr || request->receiving == nullptr || !request->receiving->active) return;
  ReceiveTransfer& transfer = *request->receiving;
  if (halt.round != transfer.round || transfer.halted_at) return;
  transfer.stopping = true;
  transfer.halted_at = halt.chunk;
  transfer.attention = true;
  transfer.sender_failed = halt.code != 0;
  if (transfer.sender_failed)
    fail(transfer,
         Error(static_cast<Code>(halt.code), fmt::format("{} could not send the message on", peer.name())));
  else if (++transfer.attempts > most_attempts)
    fail(transfer, Error(Code::no_memory, fmt::format("{} cannot carry out any plan", peer.name())));
  else
    transfer.source_mixed = true;
  for (std::int64_t chunk = std::max(halt.chunk, transfer.retired); chunk < transfer.posted; ++chunk)
    if (transfer.slot(chunk).phase == ReceiveSlot::Phase::posted)
      engine_.provider().cancel(&transfer.slot(chunk));
}

// True when every posted receive of a stopping round has ended.
bool Rendezvous::settle(ReceiveTransfer& transfer) {
  for (; transfer.reserved > transfer.posted; --transfer.reserved)
    transfer.sink->release(transfer.slot(transfer.reserved - 1).slot);
  if (transfer.error != nullptr && !transfer.abort_sent) {
    transfer.abort_sent = true;
    // Also where the sender has no plan yet: its request must end.
    if (!transfer.sender_failed) engine_.send_abort(*transfer.peer, transfer.sender, *transfer.error);
  }
  return transfer.retired == transfer.posted;
}

bool Rendezvous::advance(ReceiveTransfer& transfer) {
  transfer.attention = false;
  move_chunks(transfer);
  reserve_chunks(transfer);
  post_chunks(transfer);
  announce(transfer);
  if (transfer.stopping) {
    if (!settle(transfer)) return false;
    if (transfer.error == nullptr) {
      // Posted receives that were cancelled received nothing.
      const std::int64_t received =
          transfer.halted_at ? std::min(*transfer.halted_at, transfer.retired) : transfer.retired;
      transfer.begin = std::min(transfer.wanted, transfer.begin + received * transfer.plan.chunk_bytes);
      if (transfer.told) ++transfer.round;
      make_plan(transfer);
      return false;
    }
  } else if (transfer.retired < transfer.chunks || !transfer.told) {
    return false;
  }
  finish(transfer);
  return true;
}

void Rendezvous::finish(ReceiveTransfer& transfer) {
  transfer.active = false;
  Request& request = *transfer.request;
  if (transfer.error != nullptr) {
    const Error why = *transfer.error;
    transfer.error.reset();
    return engine_.fail(request, why);
  }
  engine_.received(request, transfer.source.bytes);
}

}  // namespace lath::transport
