#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/plan.hpp"

namespace lath::transport {

class Peer;

/// The plans that a worker's last rendezvous messages had: programs repeat few kinds of messages many times,
/// and making a plan costs as much as sending a short message. One thread at a time.
class RememberedPlans {
 public:
  /// All that a plan depends on and that may differ between two messages of one worker.
  struct Message {
    const Peer* peer = nullptr;  ///< the sender, whose limits do not change
    Summary source, sink;
    bool source_mixed = false, sink_mixed = false;
    Capabilities capabilities;  ///< the receiver's
    friend bool operator==(const Message&, const Message&) = default;
  };

  /// The plan of such a message, made by `make()` where it is not remembered.
  template <class Make>
  [[nodiscard]] const Plan& find(const Message& message, const Make& make) noexcept {
    // Neighbours often send the same types.
    const std::size_t mixture = message.source.hash.low ^ (message.sink.hash.low << 1) ^
                                (reinterpret_cast<std::uintptr_t>(message.peer) / alignof(std::max_align_t));
    Entry& entry = entries_[mixture % entries_.size()];
    if (!(entry.message == message)) entry = {message, make()};
    return entry.plan;
  }

 private:
  struct Entry {
    Message message;
    Plan plan;
  };
  std::array<Entry, 64> entries_;
};

}  // namespace lath::transport
