#include "transport/matching.hpp"

#include <utility>

namespace lath::transport {
namespace {

std::size_t hash(const MatchKey& key) noexcept {
  std::uint64_t value = static_cast<std::uint64_t>(key.tag) * 0x9E3779B97F4A7C15ULL;
  value ^= (std::uint64_t{key.context} << 32) | static_cast<std::uint32_t>(key.source);
  value *= 0xD6E8FEB86659FD93ULL;
  return static_cast<std::size_t>(value ^ (value >> 32));
}

}  // namespace

template <class Node>
typename KeyTable<Node>::Bucket& KeyTable<Node>::bucket(const MatchKey& key) noexcept {
  return buckets_[hash(key) & (buckets_.size() - 1)];
}

template <class Node>
void KeyTable<Node>::link(Node& node) noexcept {
  Bucket& at = bucket(node.key);
  node.bucket_previous = at.last;
  node.bucket_next = nullptr;
  (at.last != nullptr ? at.last->bucket_next : at.first) = &node;
  at.last = &node;
}

template <class Node>
void KeyTable<Node>::add(Node& node) {
  if (size_ >= buckets_.size() * 2) grow();
  link(node);
  ++size_;
}

template <class Node>
void KeyTable<Node>::remove(Node& node) noexcept {
  Bucket& at = bucket(node.key);
  (node.bucket_previous != nullptr ? node.bucket_previous->bucket_next : at.first) = node.bucket_next;
  (node.bucket_next != nullptr ? node.bucket_next->bucket_previous : at.last) = node.bucket_previous;
  node.bucket_previous = node.bucket_next = nullptr;
  --size_;
}

template <class Node>
Node* KeyTable<Node>::find(const MatchKey& key) const noexcept {
  for (Node* node = buckets_[hash(key) & (buckets_.size() - 1)].first; node != nullptr;
       node = node->bucket_next)
    if (node->key == key) return node;
  return nullptr;
}

// Nodes of one key leave one bucket in order and enter one bucket in order, so their order is kept.
template <class Node>
void KeyTable<Node>::grow() {
  std::vector<Bucket> old(buckets_.size() * 4);
  old.swap(buckets_);
  for (const Bucket& from : old)
    for (Node* node = from.first; node != nullptr;) link(*std::exchange(node, node->bucket_next));
}

template class KeyTable<Posted>;
template class KeyTable<Arrival>;

Posted* Matching::take_posted(const MatchKey& message) noexcept {
  Posted* earliest = nullptr;
  for (unsigned kind = 0; kind < 4; ++kind) {
    if (posted_of_kind_[kind] == 0) continue;
    MatchKey wanted = message;
    if ((kind & 1U) != 0) wanted.source = any_source;
    if ((kind & 2U) != 0) wanted.tag = any_tag;
    Posted* candidate = posted_.find(wanted);
    if (candidate != nullptr && (earliest == nullptr || candidate->order < earliest->order))
      earliest = candidate;
  }
  if (earliest != nullptr) withdraw(*earliest);
  return earliest;
}

void Matching::post(Posted& receive) {
  receive.order = next_order_++;
  posted_.add(receive);
  ++posted_of_kind_[kind(receive.key)];
}

void Matching::withdraw(Posted& receive) noexcept {
  posted_.remove(receive);
  --posted_of_kind_[kind(receive.key)];
}

Arrival* Matching::find_arrival(const MatchKey& wanted) const noexcept {
  if (kind(wanted) == 0) return arrivals_.find(wanted);
  Arrival* message = first_;
  while (message != nullptr && !matches(wanted, message->key)) message = message->next;
  return message;
}

void Matching::add(Arrival& message) {
  arrivals_.add(message);
  message.previous = last_;
  message.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &message;
  last_ = &message;
}

void Matching::remove(Arrival& message) noexcept {
  arrivals_.remove(message);
  (message.previous != nullptr ? message.previous->next : first_) = message.next;
  (message.next != nullptr ? message.next->previous : last_) = message.previous;
  message.previous = message.next = nullptr;
}

}  // namespace lath::transport
