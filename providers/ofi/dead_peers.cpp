#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "base/log.hpp"
#include "providers/ofi/provider.hpp"

/// Peers that die while requests merely wait: libfabric says nothing then.
namespace lath::providers::ofi {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_watches{100};
/// Processes looked at a watch, so that a node full of peers costs little.
constexpr std::size_t processes_a_watch = 8;
/// So long one peer's port has the watch to itself: each try is a connection that the peer has to take.
constexpr std::uint64_t watches_a_port = 10;
/// What a dead peer had sent is in this node's memory, and needs but polls to come out.
constexpr milliseconds time_to_arrive{200};
/// Devices that notice a broken connection end its operations themselves; those left after this never end.
constexpr milliseconds time_to_end{1000};

// A process that was killed leaves the memory of its endpoint to the system's next start; libfabric's shm
// names it by the process.
void remove_shared_memory(const std::string& endpoint) noexcept {
  constexpr std::string_view scheme = "fi_shm://";
  if (endpoint.starts_with(scheme)) shm_unlink(endpoint.c_str() + scheme.size());
}

}  // namespace

void OfiProvider::watch_peers(Events& events) noexcept {
  const Clock::time_point now = Clock::now();
  if (now < next_watch_ || peers_.empty()) return;
  next_watch_ = now + between_watches;
  ++watches_;
  look_at_some_peers();
  for (PeerId id = 0; id < peers_.size(); ++id) {
    const Peer& peer = peers_[id];
    if (peer.connected && peer.farewell != Farewell::complete && peer.watch.dead())
      bid_farewell(id, now, events);
  }
}

void OfiProvider::look_at_some_peers() noexcept {
  for (std::size_t i = std::min(processes_a_watch, peers_.size()); i > 0; --i) {
    next_process_ = (next_process_ + 1) % peers_.size();
    Peer& peer = peers_[next_process_];
    if (peer.connected) peer.watch.look_at_process();
  }
  if (watches_ % watches_a_port == 0) next_port_ = (next_port_ + 1) % peers_.size();
  Peer& peer = peers_[next_port_];
  if (peer.connected) peer.watch.look_at_port();
}

void OfiProvider::bid_farewell(PeerId id, Clock::time_point now, Events& events) noexcept {
  Peer& peer = peers_[id];
  switch (peer.farewell) {
    case Farewell::none:
      peer.dead_since = now;
      peer.farewell = Farewell::noticed;
      return;
    case Farewell::noticed: {
      if (now - peer.dead_since < time_to_arrive) return;
      peer.farewell = Farewell::told;
      const Error why(Code::unreachable, peer.text + ": " + peer.watch.reason(), name_);
      return events.on_unreachable(id, why);
    }
    case Farewell::told:
      // Not with the news: whoever heard it may want to end them in its own way.
      cancel_receives(id);
      if (now - peer.dead_since < time_to_end) return;
      peer.farewell = Farewell::complete;
      if (peer.watch.process_ended()) remove_shared_memory(peer.text);
      return end_operations(id, events);
    case Farewell::complete:
      return;
  }
}

void OfiProvider::cancel_receives(PeerId id) noexcept {
  receives_.for_each([&](Operation& operation) {
    if (operation.peer == id) fi_cancel(&endpoint_.handle.get()->fid, &operation);
  });
}

// The device may still report them: then they go back to their pools without a word.
void OfiProvider::end_operations(PeerId id, Events& events) noexcept {
  const Error why(Code::unreachable, peers_[id].text + ": " + peers_[id].watch.reason(), name_);
  std::size_t ended = 0;
  const auto end = [&](Operation& operation) {
    if (operation.peer != id) return;
    const Context user = operation.user;
    operation.user = nullptr;
    ++ended;
    events.on_completion(user, 0, &why);
  };
  transmits_.for_each(end);
  receives_.for_each(end);
  if (ended > 0) log::debug("{}: {} operations with {} would not have ended", name_, ended, peers_[id].text);
}

}  // namespace lath::providers::ofi
