#include <endian.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "providers/verbs/connection.hpp"
#include "providers/verbs/failure.hpp"

/// What a connection hands to the device.
namespace lath::providers::verbs {
namespace {

struct RequestBody {
  std::uint64_t tag, length;
  std::uint32_t sender, unused;
};
struct GrantBody {
  std::uint64_t length;
  std::uint32_t sender, unused;
};
struct RmaBody {
  std::uint32_t round, number, first_packet, unused;
};
static_assert(sizeof(RequestBody) <= SendQueue::note_bytes);

// Where the receive is shorter, only what it holds is sent.
void shorten(TaggedSend& send, std::uint64_t length) {
  std::uint64_t left = send.length = length;
  std::uint32_t segments = 0;
  for (; segments < send.segments && left > 0; ++segments) {
    ibv_sge& place = send.list[segments];
    place.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(place.length, left));
    left -= place.length;
  }
  send.segments = segments;
}

ibv_send_wr message(unsigned flags) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.send_flags = flags;
  return request;
}

}  // namespace

Result Connection::translate(std::span<const Segment> list, std::size_t limit, ibv_sge* into,
                             std::uint64_t& total) const noexcept {
  if (list.size() > limit)
    return Result::failure(
        Code::invalid_argument,
        fmt::format("a list of {} segments is beyond the limit of {}", list.size(), limit));
  total = 0;
  for (const Segment& segment : list) {
    const auto* registered = static_cast<const RegisteredMemory*>(segment.registration);
    total += segment.length;
    if (registered == nullptr || segment.length == 0 || total > shared_.limits.max_message)
      return Result::failure(Code::invalid_argument,
                             fmt::format("a segment of {} bytes {} cannot be posted", segment.length,
                                         registered == nullptr ? "without registration" : "in its list"));
    *into++ = {reinterpret_cast<std::uint64_t>(segment.address), static_cast<std::uint32_t>(segment.length),
               registered->local_key()};
  }
  return Result::done();
}

void Connection::add(Lane lane, const ibv_send_wr& request, std::span<const ibv_sge> list,
                     SendQueue::Entry entry) noexcept {
  if (link(lane).queue.batch_full()) flush(lane);
  link(lane).queue.add(request, list, entry);
}

void Connection::flush(Lane lane) noexcept {
  Link& flushed = link(lane);
  if (!flushed.queue.staged()) return;
  if (flushed.user_staged) ++shared_.counters.doorbells;
  flushed.user_staged = false;
  const int status = flushed.queue.flush(flushed.pair.get());
  if (status == 0) return;
  if (lane == Lane::rma) return break_rma();
  fail(Error(Code::unreachable, failure(status, "posting to " + text_).what(), shared_.name));
}

void Connection::count(std::uint64_t bytes) noexcept {
  ++shared_.counters.work_requests;
  shared_.counters.wire_bytes += bytes;
}

template <class Body>
void Connection::note(Note kind, const Body& body) noexcept {
  const ibv_sge place{reinterpret_cast<std::uint64_t>(&body), sizeof body, 0};
  ibv_send_wr request = message(IBV_SEND_INLINE);
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.imm_data = htobe32(static_cast<std::uint32_t>(kind));
  add(Lane::control, request, {&place, 1}, {});
  shared_.counters.wire_bytes += sizeof body;
}

Result Connection::send(std::span<const Segment> list, Context context, unsigned flags) noexcept {
  Link& control = link(Lane::control);
  // A quarter is kept for notes, so that data moves on whatever is sent.
  if (control.queue.room() <= control.pair.caps().send_depth / 4) return Result::again();
  std::array<ibv_sge, 64> places;
  std::uint64_t total = 0;
  if (context != nullptr) {
    Result result = translate(list, shared_.limits.send_list, places.data(), total);
    if (!result.is_done()) return result;
    add(Lane::control, message(0), {places.data(), list.size()}, {context, nullptr});
  } else {
    for (std::size_t i = 0; i < std::min(list.size(), shared_.limits.send_list); total += list[i++].length)
      places[i] = {reinterpret_cast<std::uint64_t>(list[i].address),
                   static_cast<std::uint32_t>(list[i].length), 0};
    if (total > shared_.limits.inject_bytes || list.size() > shared_.limits.send_list)
      return Result::failure(Code::invalid_argument, "more is injected than limits() allow");
    add(Lane::control, message(IBV_SEND_INLINE), {places.data(), list.size()}, {});
  }
  count(total);
  control.user_staged = true;
  // Injected memory is read when the batch is handed over, and free on return.
  if ((flags & more) == 0 || context == nullptr)
    flush(Lane::control);
  else
    want_attention();
  return Result::done();
}

Result Connection::send_tagged(std::span<const Segment> list, std::uint64_t tag, Context context,
                               unsigned flags) noexcept {
  TaggedSend* send = shared_.sends.take();
  if (send == nullptr) return Result::again();
  Result result = translate(list, shared_.limits.send_list, send->list, send->length);
  if (!result.is_done()) {
    shared_.sends.give_back(send);
    return result;
  }
  send->user = context;
  send->tag = tag;
  send->segments = static_cast<std::uint32_t>(list.size());
  send->connection = number_;
  send->state = TaggedSend::State::waiting;
  waiting_.push(send);
  pump_requests();
  if ((flags & more) == 0)
    flush(Lane::control);
  else
    want_attention();
  return Result::done();
}

Result Connection::receive_tagged(std::span<const Segment> list, std::uint64_t tag,
                                  Context context) noexcept {
  TaggedReceive* receive = shared_.receives.take();
  if (receive == nullptr) return Result::again();
  Result result = translate(list, shared_.limits.receive_list, receive->list, receive->length);
  if (!result.is_done()) {
    shared_.receives.give_back(receive);
    return result;
  }
  receive->user = context;
  receive->tag = tag;
  receive->segments = static_cast<std::uint32_t>(list.size());
  receive->connection = number_;
  matching_.receive(receive);
  if (!matching_.matched().empty()) pump();
  return Result::done();
}

Result Connection::rma(ibv_wr_opcode way, std::span<const Segment> local, const RemoteSegment& remote,
                       Context context, unsigned flags) noexcept {
  Link& used = link(Lane::rma);
  if (rma_state_ != RmaState::ready || used.queue.room() == 0) return Result::again();
  std::array<ibv_sge, 64> places;
  std::uint64_t total = 0;
  Result result = translate(local, shared_.limits.rma_local_list, places.data(), total);
  if (!result.is_done()) return result;
  if (total != remote.length || remote.key > UINT32_MAX)
    return Result::failure(Code::invalid_argument,
                           fmt::format("{} bytes here and {} there under key {:#x}: not one RMA operation",
                                       total, remote.length, remote.key));
  ibv_send_wr request = message(0);
  request.opcode = way;
  request.wr.rdma = {remote.address, static_cast<std::uint32_t>(remote.key)};
  add(Lane::rma, request, {places.data(), local.size()}, {context, nullptr});
  used.user_staged = true;
  count(total);
  if ((flags & more) == 0)
    flush(Lane::rma);
  else
    want_attention();
  return Result::done();
}

void Connection::cancel(TaggedReceive* receive) noexcept {
  if (receive->state != TaggedReceive::State::waiting || !matching_.withdraw(receive)) return;
  receive->state = TaggedReceive::State::cancelled;
  cancelled_.push(receive);
  want_attention();
}

// An empty write is answered by the peer's device alone, so its failure is a fact, and it completes after all
// that went before.
void Connection::probe() noexcept {
  if (probing_ || link(Lane::control).queue.room() == 0) return;
  ibv_send_wr request = message(0);
  request.opcode = IBV_WR_RDMA_WRITE;
  probing_ = true;
  add(Lane::control, request, {}, {this, nullptr});
  flush(Lane::control);
}

void Connection::pump_requests() noexcept {
  while (!waiting_.empty() && link(Lane::control).queue.room() > 0 && state_ == State::established) {
    TaggedSend* send = waiting_.pop();
    send->state = TaggedSend::State::requested;
    note(Note::request, RequestBody{send->tag, send->length, shared_.sends.number(send), 0});
  }
  if (!waiting_.empty()) want_attention();
}

bool Connection::post_receive(TaggedReceive* receive) noexcept {
  ibv_recv_wr request{};
  request.wr_id = WorkId::make(number_, Lane::data, true);
  request.sg_list = receive->list;
  request.num_sge = static_cast<int>(receive->segments);
  ibv_recv_wr* refused = nullptr;
  const int status = ibv_post_recv(link(Lane::data).pair.get(), &request, &refused);
  if (status == 0) return true;
  fail(Error(Code::unreachable, failure(status, "posting a receive from " + text_).what(), shared_.name));
  return false;
}

void Connection::pump_grants() noexcept {
  const std::size_t depth = data_receives();
  while (!matching_.matched().empty() && posted_count_ < depth && link(Lane::control).queue.room() > 0 &&
         state_ == State::established) {
    TaggedReceive* receive = matching_.matched().front();
    if (!post_receive(receive)) return;
    matching_.matched().pop();
    receive->state = TaggedReceive::State::posted;
    posted_.push(receive);
    ++posted_count_;
    note(Note::grant,
         GrantBody{std::min(receive->length, receive->request.length), receive->request.sender, 0});
  }
  if (!matching_.matched().empty()) want_attention();
}

void Connection::pump_data() noexcept {
  Link& data = link(Lane::data);
  while (!granted_.empty() && data.queue.room() > 0 && state_ == State::established) {
    TaggedSend* send = granted_.pop();
    send->state = TaggedSend::State::posted;
    add(Lane::data, message(0), {send->list, send->segments}, {nullptr, send});
    data.user_staged = true;
    count(send->length);
  }
  if (!granted_.empty()) want_attention();
}

void Connection::pump() noexcept {
  pump_requests();
  pump_grants();
  pump_data();
  for (const Lane lane : {Lane::control, Lane::data, Lane::rma}) flush(lane);
}

void Connection::on_note(Note kind, std::span<const std::byte> bytes) noexcept {
  if (state_ == State::failing || state_ == State::dead) return;
  const auto broken = [&](const char* what) {
    fail(Error(Code::unreachable, fmt::format("{} sent a {} that cannot be", text_, what), shared_.name));
  };
  if (kind == Note::request && bytes.size() == sizeof(RequestBody)) {
    RequestBody body;
    std::memcpy(&body, bytes.data(), sizeof body);
    if (!matching_.request({body.tag, body.length, body.sender})) return broken("request");
  } else if (kind == Note::grant && bytes.size() == sizeof(GrantBody)) {
    GrantBody body;
    std::memcpy(&body, bytes.data(), sizeof body);
    TaggedSend* send = shared_.sends.find(body.sender);
    if (send == nullptr || send->connection != number_ || send->state != TaggedSend::State::requested ||
        body.length > send->length)
      return broken("grant");
    shorten(*send, body.length);
    send->state = TaggedSend::State::granted;
    granted_.push(send);
  } else if (kind == Note::rma && bytes.size() == sizeof(RmaBody)) {
    RmaBody body;
    std::memcpy(&body, bytes.data(), sizeof body);
    on_rma_offer(body.round, {body.number, body.first_packet});
  } else {
    return broken("note");
  }
  want_attention();
}

void Connection::offer_rma() noexcept {
  const QueueName& own = link(Lane::rma).pair.name();
  note(Note::rma, RmaBody{rma_round_, own.number, own.first_packet, 0});
  flush(Lane::control);
}

}  // namespace lath::providers::verbs
