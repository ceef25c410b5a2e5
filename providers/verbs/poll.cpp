#include <endian.h>

#include <array>

#include "base/log.hpp"
#include "providers/verbs/failure.hpp"
#include "providers/verbs/provider.hpp"

/// Progress and completions.
namespace lath::providers::verbs {
namespace {

constexpr std::size_t batch = 16;
// The clock is read once in so many polls, and datagrams are looked for, which come at the start only.
constexpr std::uint64_t polls_a_tick = 1024, polls_a_joining_tick = 32, polls_a_datagram = 16;

}  // namespace

void VerbsProvider::on_control(const ibv_wc& completion, Events& events) noexcept {
  const std::size_t number = WorkId::position(completion.wr_id);
  if (completion.status == IBV_WC_SUCCESS) {
    const std::span<const std::byte> bytes(shared_.buffers.buffer(number), completion.byte_len);
    if ((completion.wc_flags & IBV_WC_WITH_IMM) == 0) {
      events.on_message(bytes);
    } else if (const auto from = shared_.by_queue_pair.find(completion.qp_num);
               from != shared_.by_queue_pair.end()) {
      from->second->on_note(static_cast<Note>(be32toh(completion.imm_data)), bytes);
    }
  } else if (completion.status != IBV_WC_WR_FLUSH_ERR) {
    log::warn("{}: {}", shared_.name, failure(completion.status, "receive").what());
  }
  shared_.buffers.post(number);
}

void VerbsProvider::on_completion(const ibv_wc& completion, Events& events) noexcept {
  const std::uint64_t number = WorkId::connection(completion.wr_id);
  if (number == WorkId::shared_buffer) return on_control(completion, events);
  // What was left of queue pairs that are gone.
  if (number >= connections_.size() || connections_[number] == nullptr) return;
  Connection& connection = *connections_[number];
  if (WorkId::receive(completion.wr_id))
    connection.on_receive_ended(completion.status, completion.byte_len, events);
  else
    connection.on_send_ended(WorkId::lane(completion.wr_id), WorkId::position(completion.wr_id),
                             completion.status, events);
}

bool VerbsProvider::poll_completions(Events& events) noexcept {
  bool news = false;
  // By number: an event may bring about another queue.
  for (std::size_t i = 0; i < shared_.completions.all().size(); ++i) {
    std::array<ibv_wc, batch> completions;
    const int got =
        ibv_poll_cq(shared_.completions.all()[i].handle.get(), static_cast<int>(batch), completions.data());
    for (int at = 0; at < got; ++at) on_completion(completions[static_cast<std::size_t>(at)], events);
    news = news || got > 0;
  }
  return news;
}

bool VerbsProvider::poll_datagrams() noexcept {
  return shared_.datagrams.poll([this](const Handshake& handshake) {
    if (handshake.to != shared_.own.worker || handshake.from.worker == shared_.own.worker) return;
    const auto known = by_worker_.find(handshake.from.worker);
    if (handshake.kind == Handshake::Kind::leave) {
      if (known != by_worker_.end()) known->second->on_handshake(handshake);
      return;
    }
    // A connection that somebody still names stays dead until it is given up.
    if (known != by_worker_.end() && !known->second->usable() && known->second->users > 0) return;
    connection_to(handshake.from).on_handshake(handshake);
  });
}

void VerbsProvider::tick() noexcept {
  shared_.buffers.post_late();
  const Clock::time_point now = Clock::now();
  for (auto& connection : connections_) {
    if (connection == nullptr) continue;
    connection->tick(now);
    if (connection->state() != Connection::State::dead || connection->users > 0 || connection->listed)
      continue;
    const auto known = by_worker_.find(connection->peer().worker);
    if (known != by_worker_.end() && known->second == connection.get()) by_worker_.erase(known);
    connection.reset();
  }
}

bool VerbsProvider::attend(Events& events, bool quiet) noexcept {
  bool news = false;
  attended_.swap(shared_.attention);
  for (Connection* connection : attended_) connection->listed = false;
  for (Connection* connection : attended_) {
    news |= connection->attend(events, quiet);
    if (connection->needs_attention()) connection->want_attention();
  }
  attended_.clear();
  return news;
}

Result VerbsProvider::poll(Events& events) noexcept {
  ++polls_;
  if (polls_ % (shared_.joining > 0 ? polls_a_joining_tick : polls_a_tick) == 0) tick();
  const bool completions = poll_completions(events);
  bool news = completions;
  if (shared_.joining > 0 || polls_ % polls_a_datagram == 0) news |= poll_datagrams();
  if (!shared_.attention.empty()) news |= attend(events, !completions);
  return news ? Result::done() : Result::again();
}

}  // namespace lath::providers::verbs
