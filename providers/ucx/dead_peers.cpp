#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "providers/peer_process.hpp"
#include "providers/ucx/provider.hpp"

/// Peers that die. UCX tells of broken connections; over shared memory it looks at the other process only
/// every twenty seconds, and never at another worker of the same process.
namespace lath::providers::ucx {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_watches{100};
/// Processes looked at a watch, so that a node full of peers costs little.
constexpr std::size_t processes_a_watch = 8;
/// What a dead peer had sent is in this node's memory, and needs but polls to come out.
constexpr milliseconds time_to_arrive{200};
/// UCX ends the operations of an endpoint that is closed by force; those left after this never end.
constexpr milliseconds time_to_end{1000};

}  // namespace

void UcxProvider::look_at(Peer& peer) noexcept {
  if (!peer.death.empty()) return;
  if (peer.failure != UCS_OK)
    peer.death = std::string("UCX lost it: ") + library()->status_string(peer.failure);
  else if (peer.closed != nullptr && peer.closed->load(std::memory_order_relaxed))
    peer.death = "its worker in this process is closed";
}

void UcxProvider::watch_peers(Events& events) noexcept {
  const Clock::time_point now = Clock::now();
  if (now < next_watch_ || peers_.empty()) return;
  next_watch_ = now + between_watches;
  for (std::size_t i = std::min(processes_a_watch, peers_.size()); i > 0; --i) {
    next_process_ = (next_process_ + 1) % peers_.size();
    Peer& peer = *peers_[next_process_];
    if (peer.death.empty() && peer.process != 0 && process_has_ended(peer.process))
      peer.death = "its process has ended";
  }
  for (PeerId id = 0; id < peers_.size(); ++id) {
    Peer& peer = *peers_[id];
    if (peer.endpoint != nullptr) look_at(peer);
    if (!peer.death.empty() && peer.farewell != Farewell::complete) bid_farewell(id, now, events);
  }
}

void UcxProvider::bid_farewell(PeerId id, Clock::time_point now, Events& events) noexcept {
  Peer& peer = *peers_[id];
  switch (peer.farewell) {
    case Farewell::none:
      peer.dead_since = now;
      peer.farewell = Farewell::noticed;
      return;
    case Farewell::noticed: {
      if (now - peer.dead_since < time_to_arrive) return;
      peer.farewell = Farewell::told;
      const Error why(Code::unreachable, peer.text + ": " + peer.death, name_);
      return events.on_unreachable(id, why);
    }
    case Farewell::told:
      // Not with the news: whoever heard it may want to end them in its own way.
      cancel_receives(id);
      if (peer.endpoint != nullptr) close(peer, true);
      peer.farewell = Farewell::ending;
      return;
    case Farewell::ending:
      if (now - peer.dead_since < time_to_end) return;
      peer.farewell = Farewell::complete;
      return end_operations(id, events);
    case Farewell::complete:
      return;
  }
}

void UcxProvider::cancel_receives(PeerId id) noexcept {
  receives_.for_each([&](Operation& operation) {
    if (operation.peer == id && operation.request != nullptr)
      library()->request_cancel(open_.worker.get(), operation.request);
  });
}

// UCX may still report them: then they go back to their pools without a word.
void UcxProvider::end_operations(PeerId id, Events& events) noexcept {
  const Error why(Code::unreachable, peers_[id]->text + ": " + peers_[id]->death, name_);
  std::size_t ended = 0;
  const auto end = [&](Operation& operation) {
    if (operation.peer != id || operation.request == nullptr) return;
    const Context user = std::exchange(operation.user, nullptr);
    ++ended;
    events.on_completion(user, 0, &why);
  };
  transmits_.for_each(end);
  receives_.for_each(end);
  if (ended > 0) log::debug("{}: {} operations with {} would not have ended", name_, ended, peers_[id]->text);
}

}  // namespace lath::providers::ucx
