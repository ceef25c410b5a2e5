#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// MPI's matching of messages with receives: two collections of intrusive nodes, that know nothing of buffers
/// or networks. One thread at a time.
namespace lath::transport {

inline constexpr std::int32_t any_source = -1;
inline constexpr std::int64_t any_tag = -1;

/// What a message bears, and what a receive asks for (there source and tag may be wildcards).
struct MatchKey {
  std::uint32_t context = 0;
  std::int32_t source = 0;
  std::int64_t tag = 0;
  friend bool operator==(const MatchKey&, const MatchKey&) = default;
};

[[nodiscard]] constexpr bool matches(const MatchKey& wanted, const MatchKey& message) noexcept {
  return wanted.context == message.context &&
         (wanted.source == any_source || wanted.source == message.source) &&
         (wanted.tag == any_tag || wanted.tag == message.tag);
}

/// A receive that waits for its message.
struct Posted {
  MatchKey key;
  std::uint64_t order = 0;  ///< set by Matching::post()
  Posted* bucket_previous = nullptr;
  Posted* bucket_next = nullptr;
};

/// A message that waits for its receive.
struct Arrival {
  MatchKey key;
  Arrival* bucket_previous = nullptr;
  Arrival* bucket_next = nullptr;
  Arrival* previous = nullptr;  ///< by arrival
  Arrival* next = nullptr;
};

/// A hash table of intrusive lists; nodes of equal key stand in the order in which they were added.
template <class Node>
class KeyTable {
 public:
  KeyTable() : buckets_(initial_buckets) {}
  void add(Node& node);
  void remove(Node& node) noexcept;
  /// The earliest node of exactly this key, or null.
  [[nodiscard]] Node* find(const MatchKey& key) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return buckets_.capacity() * sizeof(Bucket); }
  template <class Visit>
  void for_each(Visit visit) {
    for (Bucket& bucket : buckets_)
      for (Node* node = bucket.first; node != nullptr;) {
        Node* next = node->bucket_next;
        visit(*node);
        node = next;
      }
  }

 private:
  struct Bucket {
    Node* first = nullptr;
    Node* last = nullptr;
  };
  static constexpr std::size_t initial_buckets = 256;

  Bucket& bucket(const MatchKey& key) noexcept;
  void link(Node& node) noexcept;
  void grow();

  std::vector<Bucket> buckets_;
  std::size_t size_ = 0;
};

/// Posted receives and unexpected messages. Nodes belong to the caller and stay where they are while they are
/// in.
class Matching {
 public:
  /// Takes out the earliest posted receive that matches the message, or null. Constant time: one look-up for
  /// each of the four kinds of receive (wildcard source or not, wildcard tag or not) that are posted.
  [[nodiscard]] Posted* take_posted(const MatchKey& message) noexcept;
  void post(Posted& receive);
  /// Takes a posted receive out unmatched.
  void withdraw(Posted& receive) noexcept;

  /// The earliest unexpected message that matches, left in, or null. Constant time without wildcards, else
  /// linear in the messages that arrived before the match.
  [[nodiscard]] Arrival* find_arrival(const MatchKey& wanted) const noexcept;
  void add(Arrival& message);
  void remove(Arrival& message) noexcept;

  [[nodiscard]] std::size_t posted() const noexcept { return posted_.size(); }
  [[nodiscard]] std::size_t arrivals() const noexcept { return arrivals_.size(); }
  [[nodiscard]] Arrival* first_arrival() const noexcept { return first_; }
  /// Visits every posted receive; the visitor may withdraw the one visited.
  template <class Visit>
  void for_each_posted(Visit visit) {
    posted_.for_each(visit);
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return posted_.memory_bytes() + arrivals_.memory_bytes();
  }

 private:
  [[nodiscard]] static unsigned kind(const MatchKey& key) noexcept {
    return (key.source == any_source ? 1U : 0U) | (key.tag == any_tag ? 2U : 0U);
  }

  KeyTable<Posted> posted_;
  KeyTable<Arrival> arrivals_;
  std::size_t posted_of_kind_[4] = {0, 0, 0, 0};
  std::uint64_t next_order_ = 0;
  Arrival* first_ = nullptr;
  Arrival* last_ = nullptr;
};

}  // namespace lath::transport
