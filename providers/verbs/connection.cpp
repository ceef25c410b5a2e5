#include "providers/verbs/connection.hpp"

#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/config.hpp"
#include "providers/peer_process.hpp"
#include "providers/verbs/failure.hpp"

/// Life of a connection: handshake, failure, leaving.
namespace lath::providers::verbs {
namespace {

constexpr std::chrono::milliseconds first_pause{10};
constexpr std::chrono::milliseconds longest_pause{500};
constexpr std::chrono::seconds between_probes{2};
/// A device that does not give work requests back within this time has its queue pairs destroyed.
constexpr std::chrono::seconds flush_patience{3};
constexpr std::uint32_t control_depth = 128, data_depth = 64;
constexpr std::uint32_t inline_bytes = 256;
constexpr std::uint32_t longest_list = 64;
constexpr int most_reads = 16;
/// Requests of a peer that may wait for their receives: as many tagged sends as a worker has records for.
constexpr std::size_t tagged_sends = 512, tagged_receives = 1024;
constexpr std::size_t receive_buffers = 128;
constexpr std::size_t control_bytes = std::size_t{16} << 10;

std::uint64_t random_identity() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32 | device()) | 1;
}

QueueCaps wanted_caps(Lane lane) {
  QueueCaps caps;
  caps.send_depth = lane == Lane::control ? control_depth : data_depth;
  caps.send_list = longest_list;
  if (lane == Lane::control) caps.inline_bytes = inline_bytes;
  if (lane == Lane::data) {
    caps.receive_depth = data_depth;
    caps.receive_list = longest_list;
  }
  return caps;
}

/// Makes one queue pair of each lane to learn what the device grants.
Limits probe_limits(const Device& device, ibv_cq* completions, const ReceiveBuffers& buffers) {
  const QueuePair control(device, completions, buffers.queue(), wanted_caps(Lane::control));
  const QueuePair data(device, completions, nullptr, wanted_caps(Lane::data));
  const QueuePair rma(device, completions, nullptr, wanted_caps(Lane::rma));
  if (control.caps().inline_bytes < SendQueue::note_bytes)
    throw Error(Code::not_supported, "the device takes no inline data", device.name);
  Limits limits;
  limits.send_list = std::min({control.caps().send_list, data.caps().send_list, longest_list});
  limits.receive_list = std::min(data.caps().receive_list, longest_list);
  const auto reads = static_cast<std::uint32_t>(std::max(device.granted.max_sge_rd, 1));
  limits.rma_local_list = std::min({rma.caps().send_list, reads, longest_list});
  limits.inject_bytes = std::min(control.caps().inline_bytes, inline_bytes);
  limits.max_message = std::min<std::size_t>(device.link.max_msg_sz, std::size_t{1} << 30);
  limits.max_control = std::min(buffers.bytes(), limits.max_message);
  limits.queue_depth = std::min(control.caps().send_depth, control_depth) * 3 / 4;
  limits.rma = true;
  limits.local_registration = true;
  limits.ordered = true;
  return limits;
}

}  // namespace

Shared::Shared(std::string given_name, Device opened)
    : name(std::move(given_name)),
      device(std::move(opened)),
      completions(device, receive_buffers),
      buffers(device, receive_buffers, control_bytes,
              WorkId::make(WorkId::shared_buffer, Lane::control, true)),
      datagrams(device),
      sends(tagged_sends, longest_list),
      receives(tagged_receives, longest_list),
      patience(config::integer("LATH_CONNECT_TIMEOUT")) {
  ibv_cq* queue = completions.take(control_depth);
  limits = probe_limits(device, queue, buffers);
  completions.give_back(queue, control_depth);
  own = {.node = node_identity(),
         .process = getpid(),
         .worker = random_identity(),
         .gid = device.gid ? device.gid->gid : ibv_gid{},
         .datagrams = datagrams.number(),
         .key = datagrams.key(),
         .lid = device.link.lid,
         .link_layer = device.link.link_layer,
         .mtu = static_cast<std::uint8_t>(device.link.active_mtu)};
}

Connection::Connection(Shared& shared, const Address& peer, std::uint32_t number)
    : shared_(shared), peer_(peer), number_(number), text_(printable(peer)), matching_(tagged_sends) {}

Connection::~Connection() {
  set_state(State::dead);
  if (link(Lane::control).pair) shared_.by_queue_pair.erase(link(Lane::control).pair.name().number);
  for (Link& each : links_) each = {};
  if (completions_ != nullptr) shared_.completions.give_back(completions_, completion_entries_);
}

std::size_t Connection::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(Connection) + matching_.memory_bytes();
  for (const Link& each : links_) bytes += each.queue.memory_bytes();
  return bytes;
}

void Connection::set_state(State state) noexcept {
  const auto shakes = [](State each) { return each == State::joining || each == State::joined; };
  if (shakes(state_) && !shakes(state)) --shared_.joining;
  if (!shakes(state_) && shakes(state)) ++shared_.joining;
  state_ = state;
}

std::size_t Connection::data_receives() const noexcept {
  return std::min(link(Lane::data).pair.caps().receive_depth, data_depth);
}

void Connection::want_attention() noexcept {
  if (listed) return;
  listed = true;
  shared_.attention.push_back(this);
}

QueuePair::Route Connection::route() const noexcept {
  const auto mtu = std::min<std::uint8_t>(peer_.mtu, shared_.own.mtu);
  return {.path = shared_.device.route_to(peer_),
          .mtu = static_cast<ibv_mtu>(mtu),
          .reads_out = reads_out_,
          .reads_in =
              static_cast<std::uint8_t>(std::clamp(shared_.device.granted.max_qp_rd_atom, 1, most_reads))};
}

void Connection::make_lane(Lane lane) {
  Link& made = link(lane);
  made.pair = QueuePair(shared_.device, completions_,
                        lane == Lane::control ? shared_.buffers.queue() : nullptr, wanted_caps(lane));
  QueueCaps used = made.pair.caps();
  // Devices round up. What was asked for is what the completion queue has room for.
  used.send_depth = std::min(used.send_depth, wanted_caps(lane).send_depth);
  made.queue = SendQueue(used, WorkId::make(number_, lane, false));
  made.user_staged = false;
  if (used.send_list < std::min(shared_.limits.send_list, shared_.limits.rma_local_list))
    throw Error(Code::no_memory, "the device grants shorter lists than before", shared_.name);
}

void Connection::start() {
  const ibv_ah_attr path = shared_.device.route_to(peer_);
  ibv_ah_attr copy = path;
  datagram_route_.reset(
      check_object(library()->create_ah(shared_.device.domain.get(), &copy), "ibv_create_ah"));
  completion_entries_ = control_depth + 3 * data_depth;
  completions_ = shared_.completions.take(completion_entries_);
  for (const Lane lane : {Lane::control, Lane::data, Lane::rma}) make_lane(lane);
  shared_.by_queue_pair[link(Lane::control).pair.name().number] = this;
  epoch_ = random_identity();
  pause_ = first_pause;
  next_try_ = Clock::now();
  deadline_ = next_try_ + shared_.patience;
  set_state(State::joining);
  if (itself()) join_itself();
}

void Connection::use() noexcept {
  if (state_ != State::idle) return;
  try {
    start();
    if (state_ == State::joining) tick(Clock::now());
  } catch (const std::exception& problem) {
    fail(Error(Code::unreachable, text_ + ": no queue pairs: " + problem.what(), shared_.name));
  }
}

void Connection::join_itself() {
  reads_out_ = route().reads_in;
  for (Link& each : links_) each.pair.connect(route(), each.pair.name());
  next_probe_ = Clock::now() + between_probes;
  set_state(State::established);
}

void Connection::join(const Handshake& handshake) {
  reads_out_ = static_cast<std::uint8_t>(std::clamp<int>(
      std::min<int>(handshake.reads_in, shared_.device.granted.max_qp_init_rd_atom), 1, most_reads));
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    links_[lane].pair.connect(route(), handshake.lanes[lane]);
  peer_epoch_ = handshake.epoch;
  set_state(State::joined);
}

void Connection::send_join() noexcept {
  Handshake handshake;
  handshake.established = state_ == State::established;
  handshake.to = peer_.worker;
  handshake.from = shared_.own;
  handshake.epoch = epoch_;
  handshake.echo = peer_epoch_;
  for (std::size_t lane = 0; lane < lane_count; ++lane) handshake.lanes[lane] = links_[lane].pair.name();
  handshake.reads_in = route().reads_in;
  shared_.datagrams.send(datagram_route_.get(), peer_, handshake);
}

void Connection::send_leave() noexcept {
  if (itself()) return;
  try {
    if (!datagram_route_) {
      ibv_ah_attr path = shared_.device.route_to(peer_);
      datagram_route_.reset(library()->create_ah(shared_.device.domain.get(), &path));
    }
  } catch (const std::exception&) {
    return;
  }
  if (!datagram_route_) return;
  Handshake handshake;
  handshake.kind = Handshake::Kind::leave;
  handshake.to = peer_.worker;
  handshake.from = shared_.own;
  handshake.epoch = epoch_;
  handshake.echo = peer_epoch_;
  shared_.datagrams.send(datagram_route_.get(), peer_, handshake);
}

void Connection::on_handshake(const Handshake& handshake) noexcept {
  if (state_ == State::failing || state_ == State::dead) return;
  if (handshake.kind == Handshake::Kind::leave) {
    // One of an attempt that this side has not joined, or not any more, says nothing.
    if (peer_epoch_ != 0 && handshake.epoch != peer_epoch_) return;
    left_ = true;
    return want_attention();
  }
  try {
    if (state_ == State::idle) start();
    if (state_ == State::joining) join(handshake);
  } catch (const std::exception& problem) {
    return fail(Error(Code::unreachable, text_ + ": no queue pairs: " + problem.what(), shared_.name));
  }
  if (handshake.epoch != peer_epoch_)
    return fail(Error(Code::unreachable, text_ + " has begun a new connection", shared_.name));
  if (state_ == State::joined && handshake.echo == epoch_) {
    next_probe_ = Clock::now() + between_probes;
    set_state(State::established);
    want_attention();
  }
  if (!handshake.established) send_join();
}

void Connection::tick(Clock::time_point now) noexcept {
  if (state_ == State::failing) return want_attention();
  if (state_ == State::established && now >= next_probe_ && users > 0) {
    next_probe_ = now + between_probes;
    probe();
  }
  if ((state_ != State::joining && state_ != State::joined) || now < next_try_) return;
  if (peer_.node != 0 && peer_.node == shared_.own.node && process_has_ended(peer_.process))
    return fail(Error(Code::unreachable, text_ + ": its process has ended", shared_.name));
  if (now >= deadline_)
    return fail(Error(Code::unreachable,
                      text_ + " has not answered for " + std::to_string(shared_.patience.count()) +
                          " s (LATH_CONNECT_TIMEOUT)",
                      shared_.name));
  send_join();
  next_try_ = now + pause_;
  pause_ = std::min<Clock::duration>(pause_ * 2, longest_pause);
}

void Connection::fail(const Error& why) noexcept {
  if (state_ == State::failing || state_ == State::dead) return;
  cause_ = std::make_unique<Error>(why);
  set_state(State::failing);
  for (Link& each : links_) each.pair.break_off();
  deadline_ = Clock::now() + flush_patience;
  want_attention();
}

void Connection::leave() noexcept {
  if (state_ == State::failing || state_ == State::dead) return;
  if (state_ != State::established) {
    send_leave();
    return fail(Error(Code::cancelled, text_ + " was disconnected", shared_.name));
  }
  leaving_ = true;
  probe();
  want_attention();
}

}  // namespace lath::providers::verbs
