#include "providers/verbs/send_queue.hpp"

#include <algorithm>
#include <cstring>

namespace lath::providers::verbs {

SendQueue::SendQueue(const QueueCaps& caps, std::uint64_t id)
    : entries_(std::min<std::size_t>(caps.send_depth, 0xffff)),
      id_(id),
      list_length_(caps.send_list),
      lists_(most_staged * caps.send_list) {}

void SendQueue::add(const ibv_send_wr& request, std::span<const ibv_sge> list, Entry entry) noexcept {
  ibv_sge* copy = lists_.data() + staged_ * list_length_;
  std::copy(list.begin(), list.end(), copy);
  if ((request.send_flags & IBV_SEND_INLINE) != 0 && list.size() == 1 && list[0].length <= note_bytes) {
    std::byte* note = notes_[staged_].data();
    std::memcpy(note, reinterpret_cast<const void*>(list[0].addr), list[0].length);
    copy->addr = reinterpret_cast<std::uint64_t>(note);
  }
  ibv_send_wr& staged = batch_[staged_++];
  staged = request;
  staged.next = nullptr;
  staged.sg_list = copy;
  staged.num_sge = static_cast<int>(list.size());
  staged.wr_id = id_ + position_of(head_);
  if (staged_ > 1) batch_[staged_ - 2].next = &staged;
  entries_[position_of(head_++)] = entry;
  if (!entry.awaited()) return;
  ++awaited_;
  staged_awaited_ = true;
}

int SendQueue::flush(ibv_qp* queue_pair) noexcept {
  if (staged_ == 0) return 0;
  const std::size_t count = staged_;
  unsignalled_ += count;
  // One completion tells of all before it. Where nobody waits, only so that the queue empties.
  if (staged_awaited_ || unsignalled_ >= entries_.size() / 4) {
    batch_[count - 1].send_flags |= IBV_SEND_SIGNALED;
    unsignalled_ = 0;
  }
  staged_ = 0;
  staged_awaited_ = false;
  ibv_send_wr* refused = nullptr;
  const int status = ibv_post_send(queue_pair, batch_.data(), &refused);
  if (status == 0)
    posted_ += count;
  else if (refused != nullptr)
    posted_ += static_cast<std::size_t>(refused - batch_.data());
  return status;
}

bool SendQueue::contains(std::uint64_t position) const noexcept {
  if (entries_.empty() || position >= entries_.size()) return false;
  const std::uint64_t offset = (position + entries_.size() - position_of(tail_)) % entries_.size();
  return offset < posted_ - tail_;
}

SendQueue::Entry SendQueue::pop() noexcept {
  const Entry entry = entries_[position_of(tail_++)];
  if (entry.awaited()) --awaited_;
  // What was staged and not handed over ends with the batch.
  if (tail_ > posted_) {
    posted_ = tail_;
    staged_ = 0;
    staged_awaited_ = false;
  }
  return entry;
}

std::size_t SendQueue::memory_bytes() const noexcept {
  return entries_.size() * sizeof(Entry) + lists_.size() * sizeof(ibv_sge) + sizeof batch_;
}

}  // namespace lath::providers::verbs
