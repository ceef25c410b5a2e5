#include <algorithm>

#include "providers/verbs/connection.hpp"
#include "providers/verbs/failure.hpp"

/// What a connection learns from the device, and how it ends what was handed over.
namespace lath::providers::verbs {

void Connection::end(const SendQueue::Entry& entry, const Error* error, Events& events) noexcept {
  if (entry.user == this) {
    probing_ = false;
    return;
  }
  Context user = entry.user;
  if (entry.tagged != nullptr) {
    user = entry.tagged->user;
    shared_.sends.give_back(entry.tagged);
  }
  if (user != nullptr) events.on_completion(user, 0, error);
}

void Connection::end(TaggedReceive* receive, std::size_t bytes, const Error* error, Events& events) noexcept {
  const Context user = receive->user;
  shared_.receives.give_back(receive);
  events.on_completion(user, bytes, error);
}

void Connection::on_send_ended(Lane lane, std::uint64_t position, ibv_wc_status status,
                               Events& events) noexcept {
  SendQueue& queue = link(lane).queue;
  if (!queue.contains(position)) return;
  // Those before it are done: a failed one would have told.
  while (queue.before(position)) end(queue.pop(), nullptr, events);
  const SendQueue::Entry entry = queue.pop();
  if (status == IBV_WC_SUCCESS) {
    end(entry, nullptr, events);
    if (!waiting_.empty() || !granted_.empty() || !matching_.matched().empty()) want_attention();
    return;
  }
  const bool known = cause_ != nullptr && status == IBV_WC_WR_FLUSH_ERR;
  const Error error = known ? *cause_ : failure(status, "operation with " + text_);
  const bool lost = error.lath_code() == Code::unreachable;
  if (lane != Lane::rma || lost)
    fail(lost ? error
              : Error(Code::unreachable, "the connection broke: " + std::string(error.what()), shared_.name));
  else
    break_rma();
  end(entry, &error, events);
}

void Connection::on_receive_ended(ibv_wc_status status, std::size_t bytes, Events& events) noexcept {
  if (posted_.empty()) return;
  TaggedReceive* receive = posted_.pop();
  --posted_count_;
  if (status == IBV_WC_SUCCESS) {
    if (!matching_.matched().empty()) want_attention();
    if (receive->request.length <= receive->length) return end(receive, bytes, nullptr, events);
    const Error truncated(Code::truncated,
                          "a message of " + std::to_string(receive->request.length) + " bytes from " + text_ +
                              " into a receive of " + std::to_string(receive->length),
                          shared_.name);
    return end(receive, bytes, &truncated, events);
  }
  const Error error = cause_ != nullptr ? *cause_ : failure(status, "tagged receive from " + text_);
  fail(Error(Code::unreachable, "the connection broke: " + std::string(error.what()), shared_.name));
  end(receive, 0, &error, events);
}

void Connection::end_unposted(Lane lane, const Error& why, Events& events) noexcept {
  SendQueue& queue = link(lane).queue;
  while (queue.oldest_unposted()) end(queue.pop(), &why, events);
}

bool Connection::settle(Events& events, bool quiet_queue) noexcept {
  const Error& why = *cause_;
  // After all that the peer had sent.
  if (quiet_queue && !unreachable_told_ && users > 0 && why.lath_code() == Code::unreachable) {
    unreachable_told_ = true;
    events.on_unreachable(number_, why);
  }
  while (TaggedReceive* receive = matching_.take_any()) end(receive, 0, &why, events);
  // Sends that the device has end by its completions; the others by this.
  waiting_ = {};
  granted_ = {};
  for (TaggedSend& send : shared_.sends.all()) {
    const bool held = send.state == TaggedSend::State::idle || send.state == TaggedSend::State::posted;
    if (held || send.connection != number_) continue;
    const Context user = send.user;
    shared_.sends.give_back(&send);
    events.on_completion(user, 0, &why);
  }
  bool quiet = posted_.empty();
  for (const Lane lane : {Lane::control, Lane::data, Lane::rma}) {
    end_unposted(lane, why, events);
    quiet = quiet && link(lane).queue.awaited() == 0;
  }
  if ((!quiet || !quiet_queue) && Clock::now() < deadline_) return false;
  bury(events);
  return true;
}

// With its queue pairs gone the device reaches no memory any more.
void Connection::bury(Events& events) noexcept {
  shared_.by_queue_pair.erase(link(Lane::control).pair.name().number);
  for (Link& each : links_) each.pair = {};
  for (Link& each : links_)
    while (!each.queue.empty()) end(each.queue.pop(), cause_.get(), events);
  while (!posted_.empty()) end(posted_.pop(), 0, cause_.get(), events);
  posted_count_ = 0;
  set_state(State::dead);
}

bool Connection::attend(Events& events, bool quiet) noexcept {
  bool news = false;
  while (!cancelled_.empty()) {
    const Error error(Code::cancelled, "the receive was cancelled", shared_.name);
    end(cancelled_.pop(), 0, &error, events);
    news = true;
  }
  if (state_ == State::established) {
    pump();
    if (rma_state_ == RmaState::breaking) news |= mend_rma(events);
  }
  if (left_ && quiet) fail(Error(Code::unreachable, text_ + " has closed its side", shared_.name));
  if (leaving_ && state_ == State::established) {
    if (!draining()) {
      send_leave();
      fail(Error(Code::cancelled, text_ + " was disconnected", shared_.name));
    } else if (link(Lane::control).queue.awaited() == 0) {
      // Injected messages came after the last probe: the device tells their end with the next one.
      probe();
    }
  }
  if (state_ == State::failing) news |= settle(events, quiet);
  return news;
}

bool Connection::needs_attention() const noexcept {
  if (state_ == State::failing || !cancelled_.empty()) return true;
  if (state_ == State::dead) return false;
  if (left_ || leaving_ || rma_state_ == RmaState::breaking) return true;
  if (state_ != State::established) return false;
  return !waiting_.empty();
}

bool Connection::draining() const noexcept {
  const SendQueue& control = link(Lane::control).queue;
  return state_ == State::established && (control.awaited() > 0 || control.quiet_tail());
}

void Connection::break_rma() noexcept {
  if (rma_state_ == RmaState::breaking || state_ != State::established) return;
  rma_state_ = RmaState::breaking;
  link(Lane::rma).pair.break_off();
  want_attention();
}

/// A wrong key ends the queue pair of RMA on both sides. A new one is made beside the rest, which goes on.
bool Connection::mend_rma(Events& events) noexcept {
  const Error why(Code::provider, "the queue pair for RMA with " + text_ + " broke", shared_.name);
  end_unposted(Lane::rma, why, events);
  if (link(Lane::rma).queue.awaited() > 0 || link(Lane::control).queue.room() == 0) return false;
  try {
    make_lane(Lane::rma);
    if (rma_peer_.number != 0) {
      link(Lane::rma).pair.connect(route(), rma_peer_);
      rma_state_ = RmaState::ready;
    } else {
      ++rma_round_;
      rma_state_ = RmaState::offered;
    }
    rma_peer_ = {};
    offer_rma();
  } catch (const std::exception& problem) {
    fail(Error(Code::unreachable, text_ + ": no queue pair for RMA: " + problem.what(), shared_.name));
  }
  return true;
}

void Connection::on_rma_offer(std::uint32_t round, const QueueName& name) noexcept {
  if (state_ != State::established) return;
  if (round == rma_round_ && rma_state_ == RmaState::offered) {
    try {
      link(Lane::rma).pair.connect(route(), name);
      rma_state_ = RmaState::ready;
    } catch (const std::exception& problem) {
      fail(Error(Code::unreachable, text_ + ": no queue pair for RMA: " + problem.what(), shared_.name));
    }
    return;
  }
  if (round <= rma_round_) return;
  rma_round_ = round;
  rma_peer_ = name;
  break_rma();
}

}  // namespace lath::providers::verbs
