#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "providers/verbs/queue_pair.hpp"
#include "providers/verbs/tagged.hpp"

namespace lath::providers::verbs {

/// The work requests of one queue pair's send side: staged, handed to the device in batches with one
/// doorbell, signalled selectively, and ended in the order in which they were posted. Allocates only when it
/// is made.
class SendQueue {
 public:
  /// What ends with a work request: a caller's context, a tagged send, or (neither) nothing that anybody
  /// waits for.
  struct Entry {
    Context user = nullptr;
    TaggedSend* tagged = nullptr;
    [[nodiscard]] bool awaited() const noexcept { return user != nullptr || tagged != nullptr; }
  };

  static constexpr std::size_t note_bytes = 32;

  SendQueue() = default;
  /// For a queue pair of these caps. Work request ids are `id` plus the position (below 65,536).
  SendQueue(const QueueCaps& caps, std::uint64_t id);

  /// Work requests that may be added now.
  [[nodiscard]] std::size_t room() const noexcept { return entries_.size() - (head_ - tail_); }
  /// Adds one to the batch; there must be room. `list` is copied, and so are inline data of one segment of at
  /// most note_bytes; others must stay until flush().
  void add(const ibv_send_wr& request, std::span<const ibv_sge> list, Entry entry) noexcept;
  [[nodiscard]] bool batch_full() const noexcept { return staged_ == most_staged; }
  [[nodiscard]] bool staged() const noexcept { return staged_ > 0; }
  /// Hands the batch to the device: 0, or the errno of the post; what was not posted then is `unposted`.
  int flush(ibv_qp* queue_pair) noexcept;

  /// Work requests whose end somebody waits for, staged ones included.
  [[nodiscard]] std::size_t awaited() const noexcept { return awaited_; }
  /// Whether the device still holds work requests that it will not tell the end of by itself.
  [[nodiscard]] bool quiet_tail() const noexcept { return unsignalled_ > 0; }
  [[nodiscard]] bool contains(std::uint64_t position) const noexcept;
  /// Ends the oldest entry.
  Entry pop() noexcept;
  /// Whether the oldest entry lies before the one at this position.
  [[nodiscard]] bool before(std::uint64_t position) const noexcept {
    return head_ != tail_ && position_of(tail_) != position;
  }
  /// Whether the oldest entry is one that the device never got.
  [[nodiscard]] bool oldest_unposted() const noexcept { return tail_ != head_ && tail_ >= posted_; }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  static constexpr std::size_t most_staged = 16;
  [[nodiscard]] std::uint64_t position_of(std::uint64_t number) const noexcept {
    return number % entries_.size();
  }

  std::vector<Entry> entries_;
  std::uint64_t id_ = 0;
  std::uint64_t head_ = 0, tail_ = 0, posted_ = 0;  ///< count work requests added, ended, handed over
  std::size_t awaited_ = 0;
  std::size_t list_length_ = 0;
  std::size_t unsignalled_ = 0;  ///< posted since the last signalled one
  std::array<ibv_send_wr, most_staged> batch_{};
  std::array<std::array<std::byte, note_bytes>, most_staged> notes_{};
  std::vector<ibv_sge> lists_;
  std::size_t staged_ = 0;
  bool staged_awaited_ = false;
};

}  // namespace lath::providers::verbs
