#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "providers/provider.hpp"
#include "providers/verbs/library.hpp"

/// Tagged messages over a queue pair whose receives match by order alone.
///
/// A sender first asks on the control queue pair (request: tag, length). The receiver posts the matching
/// receive on the data queue pair and answers (grant) in the same step. Grants arrive in the order in which
/// they were given, and the sender sends in the order in which they arrive, so the order of the sends on the
/// data queue pair is that of the receives. A receive is posted only once its sender has asked, so nothing
/// posted waits for what may never come, whatever order the tags come in.
namespace lath::providers::verbs {

/// One send_tagged() from its call to its completion.
struct TaggedSend {
  enum class State : std::uint8_t { idle, waiting, requested, granted, posted };
  Context user = nullptr;
  std::uint64_t tag = 0, length = 0;
  ibv_sge* list = nullptr;  ///< room for the longest list
  std::uint32_t segments = 0;
  std::uint32_t connection = 0;
  State state = State::idle;
  TaggedSend* next = nullptr;
};

/// What a sender has asked for.
struct TaggedRequest {
  std::uint64_t tag = 0, length = 0;
  std::uint32_t sender = 0;  ///< names its TaggedSend
};

/// One receive_tagged() from its call to its completion.
struct TaggedReceive {
  enum class State : std::uint8_t { idle, waiting, matched, posted, cancelled };
  Context user = nullptr;
  std::uint64_t tag = 0, length = 0;  ///< length: what the list holds
  ibv_sge* list = nullptr;
  std::uint32_t segments = 0;
  std::uint32_t connection = 0;
  TaggedRequest request;  ///< from `matched` on
  State state = State::idle;
  TaggedReceive* next = nullptr;
};

/// First in, first out, through the records' own links.
template <class Record>
class Queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] Record* front() const noexcept { return first_; }
  void push(Record* record) noexcept {
    record->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = record;
    last_ = record;
  }
  Record* pop() noexcept {
    Record* record = first_;
    first_ = record->next;
    return record;
  }
  /// Takes out the first record that `wanted` accepts; null where none is.
  template <class Predicate>
  Record* take(const Predicate& wanted) noexcept {
    Record* before = nullptr;
    for (Record* record = first_; record != nullptr; before = record, record = record->next) {
      if (!wanted(*record)) continue;
      (before == nullptr ? first_ : before->next) = record->next;
      if (last_ == record) last_ = before;
      return record;
    }
    return nullptr;
  }

 private:
  Record* first_ = nullptr;
  Record* last_ = nullptr;
};

/// A fixed number of records with room for a list each; taking and giving back allocates nothing.
template <class Record>
class RecordPool {
 public:
  RecordPool(std::size_t size, std::size_t list_length) : records_(size), lists_(size * list_length) {
    for (std::size_t i = size; i > 0; --i) {
      records_[i - 1].list = lists_.data() + (i - 1) * list_length;
      give_back(&records_[i - 1]);
    }
  }
  /// Null where all are in use.
  [[nodiscard]] Record* take() noexcept {
    Record* record = free_;
    if (record != nullptr) free_ = record->next;
    return record;
  }
  void give_back(Record* record) noexcept {
    record->state = Record::State::idle;
    record->user = nullptr;
    record->next = free_;
    free_ = record;
  }
  [[nodiscard]] std::uint32_t number(const Record* record) const noexcept {
    return static_cast<std::uint32_t>(record - records_.data());
  }
  /// The record of a number that came over the wire; null for one that is not in use.
  [[nodiscard]] Record* find(std::uint32_t number) noexcept {
    if (number >= records_.size() || records_[number].state == Record::State::idle) return nullptr;
    return &records_[number];
  }
  [[nodiscard]] std::vector<Record>& all() noexcept { return records_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return records_.size() * sizeof(Record) + lists_.size() * sizeof(ibv_sge);
  }

 private:
  std::vector<Record> records_;
  std::vector<ibv_sge> lists_;
  Record* free_ = nullptr;
};

/// The receiving side's matching for one peer: receives and requests meet by tag, each in its order.
class TaggedMatching {
 public:
  /// At most so many requests of the peer may wait for their receives.
  explicit TaggedMatching(std::size_t most_requests) { early_.reserve(most_requests); }

  /// A receive was called for. It is matched() if its request has come before.
  void receive(TaggedReceive* receive) noexcept;
  /// A request came. False where more wait than the peer may have: it does not keep to the protocol.
  [[nodiscard]] bool request(const TaggedRequest& request) noexcept;
  /// Matched receives, in the order of their matching.
  [[nodiscard]] Queue<TaggedReceive>& matched() noexcept { return matched_; }
  /// Takes out a receive that is not matched; false where it is not there.
  bool withdraw(TaggedReceive* receive) noexcept;
  /// Takes out any receive that is not posted; null where none is left.
  TaggedReceive* take_any() noexcept;
  /// Whether something is called for that the peer has not sent.
  [[nodiscard]] bool waits() const noexcept { return !waiting_.empty(); }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return early_.capacity() * sizeof(TaggedRequest);
  }

 private:
  void match(TaggedReceive* receive, const TaggedRequest& request) noexcept;

  Queue<TaggedReceive> waiting_, matched_;
  std::vector<TaggedRequest> early_;
};

}  // namespace lath::providers::verbs
