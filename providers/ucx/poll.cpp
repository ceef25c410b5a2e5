#include "base/log.hpp"
#include "providers/ucx/failure.hpp"
#include "providers/ucx/provider.hpp"

/// Progress and completions.
namespace lath::providers::ucx {
namespace {

constexpr std::uint64_t polls_a_watch = 512;

}  // namespace

ucs_status_t UcxProvider::on_message(void* self, const void*, size_t, void* data, size_t length,
                                     const ucp_am_recv_param_t*) {
  auto* provider = static_cast<UcxProvider*>(self);
  const std::span bytes(static_cast<const std::byte*>(data), length);
  provider->messages_came_ = true;
  if (provider->listening_ != nullptr)
    provider->listening_->on_message(bytes);
  else
    provider->held_messages_.emplace_back(bytes.begin(), bytes.end());
  return UCS_OK;
}

void UcxProvider::tell_held_messages(Events& events) noexcept {
  std::vector<std::vector<std::byte>> messages;
  messages.swap(held_messages_);
  for (const auto& message : messages) events.on_message(message);
}

void UcxProvider::tell(Operation* operation, Events& events) noexcept {
  const Context user = operation->user;
  const ucs_status_t status = operation->status;
  const bool transmitted = operation->kind == OperationKind::transmit;
  const std::size_t bytes = transmitted ? 0 : operation->bytes;
  const bool cancelled = operation->cancelled;
  Peer& peer = *peers_[operation->peer];
  pool_of(*operation).give_back(operation);
  if (transmitted && status == UCS_OK)
    peer.greeted = true;
  else if (transmitted && !peer.greeted && peer.failure == UCS_OK)
    peer.failure = status;
  if (user == nullptr) return;
  if (status == UCS_OK) return events.on_completion(user, bytes, nullptr);
  Error error = failure(status, "operation with " + peer.text);
  // UCX cancels what is under way with a peer that it has lost.
  if (!cancelled && status != UCS_ERR_MESSAGE_TRUNCATED && error.lath_code() != Code::unreachable) {
    look_at(peer);
    if (!peer.death.empty() || status == UCS_ERR_CANCELED)
      error = Error(Code::unreachable, peer.text + ": " +
                                           (peer.death.empty() ? "the endpoint is closed" : peer.death) +
                                           "; " + error.what());
  }
  events.on_completion(user, bytes, &error);
}

bool UcxProvider::tell_ended(Events& events) noexcept {
  bool any = false;
  while (Operation* operation = ended_.take()) {
    tell(operation, events);
    any = true;
  }
  return any;
}

Result UcxProvider::poll(Events& events) noexcept {
  if (++polls_ % polls_a_watch == 0) watch_peers(events);
  if (doorbell_due_) {
    doorbell_due_ = false;
    ++counters_.doorbells;
  }
  messages_came_ = !held_messages_.empty();
  if (messages_came_) tell_held_messages(events);
  listening_ = &events;
  library()->worker_progress(open_.worker.get());
  listening_ = nullptr;
  const bool ended = tell_ended(events);
  return ended || messages_came_ ? Result::done() : Result::again();
}

}  // namespace lath::providers::ucx
