#include "transport/rendezvous.hpp"

#include <algorithm>

#include "transport/engine.hpp"

namespace lath::transport {

void Rendezvous::on_abort(Request& request, std::unique_ptr<Error> error) {
  // What still waits here has not been told to the peer, and a receive ends by its own means.
  if (!request.announced || (request.kind == Request::Kind::get && holds(request))) return;
  if (request.sending == nullptr || !request.sending->active) return engine_.fail(request, *error);
  SendTransfer& transfer = *request.sending;
  if (transfer.error == nullptr) transfer.error = std::move(error);
  transfer.halting = transfer.attention = true;
}

void Rendezvous::progress() {
  std::erase_if(sending_,
                [this](SendTransfer* transfer) { return transfer->attention && advance(*transfer); });
  std::erase_if(receiving_,
                [this](ReceiveTransfer* transfer) { return transfer->attention && advance(*transfer); });
  while (!waiting_.empty() && receiving_.size() < most_receiving) {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    begin(*next.request, *next.envelope);
  }
}

void Rendezvous::lose(Peer& peer, const Error& why) {
  for (SendTransfer* transfer : sending_)
    if (transfer->request->peer == &peer) {
      if (transfer->error == nullptr) transfer->error = std::make_unique<Error>(why);
      transfer->halting = transfer->attention = true;
    }
  for (ReceiveTransfer* transfer : receiving_)
    if (transfer->peer == &peer) {
      fail(*transfer, why);
      for (std::int64_t chunk = transfer->retired; chunk < transfer->posted; ++chunk)
        if (transfer->slot(chunk).phase == ReceiveSlot::Phase::posted)
          engine_.provider().cancel(&transfer->slot(chunk));
    }
  std::deque<Waiting> others;
  for (const Waiting& waiting : waiting_) {
    if (waiting.envelope->peer != &peer) {
      others.push_back(waiting);
      continue;
    }
    engine_.envelopes().give_back(*waiting.envelope);
    engine_.fail(*waiting.request, why);
  }
  waiting_.swap(others);
}

void Rendezvous::cancel_all() noexcept {
  for (ReceiveTransfer* transfer : receiving_) {
    transfer->stopping = true;
    for (std::int64_t chunk = transfer->retired; chunk < transfer->posted; ++chunk)
      if (transfer->slot(chunk).phase == ReceiveSlot::Phase::posted)
        engine_.provider().cancel(&transfer->slot(chunk));
  }
}

void Rendezvous::drop_all() noexcept {
  for (SendTransfer* transfer : sending_)
    for (; transfer->retired < transfer->begun; ++transfer->retired)
      transfer->source->release(transfer->slot(transfer->retired).slot);
  for (ReceiveTransfer* transfer : receiving_)
    for (; transfer->retired < transfer->reserved; ++transfer->retired)
      transfer->sink->release(transfer->slot(transfer->retired).slot);
  sending_.clear();
  receiving_.clear();
}

void Rendezvous::abandon(const Error& why) {
  std::vector<Request*> requests;
  for (SendTransfer* transfer : sending_) {
    transfer->active = false;
    requests.push_back(transfer->request);
  }
  for (ReceiveTransfer* transfer : receiving_) {
    transfer->active = false;
    requests.push_back(transfer->request);
  }
  drop_all();
  for (Request* request : requests) engine_.fail(*request, why);
}

bool Rendezvous::holds(const Request& request) const noexcept {
  if (request.sending != nullptr && request.sending->active) return true;
  if (request.receiving != nullptr && request.receiving->active) return true;
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& waiting) { return waiting.request == &request; });
}

}  // namespace lath::transport
