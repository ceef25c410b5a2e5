#include <fmt/format.h>

#include <algorithm>

#include "transport/engine.hpp"
#include "transport/rendezvous.hpp"

namespace lath::transport {

void SendSlot::completed(std::size_t, const Error* error) {
  ended = true;
  transfer->attention = true;
  if (error == nullptr) return;
  if (transfer->error == nullptr) transfer->error = std::make_unique<Error>(*error);
  transfer->halting = true;
  transfer->request->engine->note_failure(*transfer->request->peer, *error);
}

PackedRange SendTransfer::range(std::int64_t chunk) const noexcept {
  const std::int64_t begin = plan.begin + chunk * plan.chunk_bytes;
  return {begin, plan.end - begin > plan.chunk_bytes ? begin + plan.chunk_bytes : plan.end};
}

void Rendezvous::on_cts(Peer& peer, const wire::Cts& cts) {
  Request* request = engine_.find(cts.sender, peer, "cts");
  if (request == nullptr) return;
  if (request->kind == Request::Kind::receive || request->kind == Request::Kind::get || !request->announced ||
      cts.end > request->data.bytes)
    return engine_.corrupt(peer, *request, "a cts does not fit the message that it answers");
  if (request->sending == nullptr) {
    request->sending = std::make_unique<SendTransfer>();
    request->sending->request = request;
  }
  SendTransfer& transfer = *request->sending;
  if (!transfer.active) {
    transfer.active = true;
    transfer.receiver = cts.receiver;
    transfer.begun = transfer.sent = transfer.retired = transfer.chunks = 0;
    transfer.halting = transfer.halt_sent = false;
    sending_.push_back(&transfer);
    adopt(transfer, cts);
  } else if (cts.round != transfer.plan.round + 1 || cts.receiver != transfer.receiver ||
             transfer.next_plan) {
    return engine_.corrupt(peer, *request, "a cts out of turn");
  } else {
    transfer.next_plan = cts;
  }
  transfer.attention = true;
}

void Rendezvous::adopt(SendTransfer& transfer, const wire::Cts& cts) {
  transfer.plan = cts;
  transfer.chunks = cts.end > cts.begin ? (cts.end - cts.begin - 1) / cts.chunk_bytes + 1 : 0;
  transfer.credit = std::min(cts.credit, transfer.chunks);
  transfer.begun = transfer.sent = transfer.retired = 0;
  transfer.halting = transfer.halt_sent = false;
  if (transfer.slots.size() != cts.slots) transfer.slots = std::vector<SendSlot>(cts.slots);
  for (SendSlot& slot : transfer.slots) slot.transfer = &transfer;
  if (transfer.chunks > 0 && !make_source(transfer)) transfer.halting = true;
}

bool Rendezvous::make_source(SendTransfer& transfer) {
  Request& request = *transfer.request;
  const Capabilities capabilities = engine_.factory().capabilities();
  const Buffer buffer = engine_.buffer(request.data);
  const Summary side = engine_.summary(request);
  Scheme scheme = transfer.plan.source;
  // Legality was judged by the receiver, from what this side said of itself: not to be relied on.
  if (!is_legal(scheme, side, Direction::send, engine_.limits(), capabilities, request.mixed))
    scheme = Scheme::staged;
  for (;;) {
    if (transfer.source != nullptr && transfer.source->scheme() == scheme) break;
    std::unique_ptr<Error> why;
    transfer.source = engine_.factory().source(scheme, buffer, why);
    if (transfer.source != nullptr) break;
    if (scheme == Scheme::staged) return false;
    scheme = fallback(scheme, side, capabilities, request.mixed);
  }
  engine_.moved(request, scheme);
  return true;
}

void Rendezvous::on_credit(Peer& peer, const wire::Credit& credit) {
  Request* request = engine_.find(credit.sender, peer, "credit");
  if (request == nullptr || request->sending == nullptr || !request->sending->active) return;
  SendTransfer& transfer = *request->sending;
  wire::Cts* plan = &transfer.plan;
  if (transfer.next_plan && transfer.next_plan->round == credit.round) plan = &*transfer.next_plan;
  if (plan->round != credit.round) return;
  plan->credit = std::max(plan->credit, credit.credit);
  transfer.credit = std::min(transfer.plan.credit, transfer.chunks);
  transfer.attention = true;
}

bool Rendezvous::begin_chunks(SendTransfer& transfer) {
  const auto slots = static_cast<std::int64_t>(transfer.slots.size());
  while (transfer.begun < transfer.credit && transfer.begun - transfer.retired < slots) {
    SendSlot& slot = transfer.slot(transfer.begun);
    slot.ended = false;
    Result result = transfer.source->begin(transfer.range(transfer.begun), slot.slot);
    if (result.is_again()) return true;
    if (result.is_error()) {
      stop(transfer, result.error());
      return false;
    }
    ++transfer.begun;
  }
  return false;
}

bool Rendezvous::send_chunks(SendTransfer& transfer) {
  Peer& peer = *transfer.request->peer;
  while (transfer.sent < transfer.begun) {
    SendSlot& slot = transfer.slot(transfer.sent);
    Result result = transfer.source->ready(slot.slot);
    if (result.is_done()) {
      const std::uint64_t tag = engine_.data_tag(transfer.plan.tag, transfer.sent);
      result = engine_.provider().send_tagged(peer.id, slot.slot.list, tag, &slot, 0);
      if (result.is_error()) engine_.note_failure(peer, result.error());
    }
    if (result.is_again()) return true;
    if (result.is_error()) {
      stop(transfer, result.error());
      return false;
    }
    engine_.operation_started();
    ++transfer.sent;
  }
  return false;
}

void Rendezvous::stop(SendTransfer& transfer, const Error& why) {
  transfer.halting = true;
  const Code code = why.lath_code();
  // A refused registration or exhausted memory is a matter of the plan; these are not.
  const bool fatal = code == Code::bad_address || code == Code::unreachable;
  if (fatal && transfer.error == nullptr) transfer.error = std::make_unique<Error>(why);
}

void Rendezvous::halt(SendTransfer& transfer) {
  for (std::int64_t chunk = transfer.sent; chunk < transfer.begun; ++chunk)
    transfer.source->release(transfer.slot(chunk).slot);
  transfer.begun = transfer.sent;
  transfer.halt_sent = true;
  wire::Halt message;
  message.receiver = transfer.receiver;
  message.chunk = transfer.sent;
  message.round = transfer.plan.round;
  message.code = transfer.error != nullptr ? static_cast<std::uint32_t>(transfer.error->lath_code()) : 0;
  engine_.outbox().post(*transfer.request->peer, wire::Kind::halt, message);
}

bool Rendezvous::advance(SendTransfer& transfer) {
  transfer.attention = false;
  while (transfer.retired < transfer.sent && transfer.slot(transfer.retired).ended)
    transfer.source->release(transfer.slot(transfer.retired++).slot);
  if (!transfer.halting) {
    const bool no_bounce = begin_chunks(transfer);
    const bool not_sent = send_chunks(transfer);
    transfer.attention = no_bounce || not_sent;
  }
  if (transfer.halting && !transfer.halt_sent) halt(transfer);
  if (transfer.retired < transfer.begun) return false;
  if (transfer.error == nullptr && transfer.next_plan) {
    const wire::Cts plan = *transfer.next_plan;
    transfer.next_plan.reset();
    adopt(transfer, plan);
    transfer.attention = true;
    return false;
  }
  if (transfer.error == nullptr && (transfer.halting || transfer.retired < transfer.chunks)) return false;
  transfer.active = false;
  Request& request = *transfer.request;
  if (transfer.error != nullptr) {
    const Error why = *transfer.error;
    transfer.error.reset();
    engine_.fail(request, why);
  } else {
    engine_.sent(request);
  }
  return true;
}

}  // namespace lath::transport
