#include "transport/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "base/config.hpp"
#include "base/log.hpp"
#include "gpu/device.hpp"
#include "gpu/driver.hpp"

namespace lath::transport {
namespace {

constexpr std::int64_t smallest_window = 256 * 1024;
/// Polls without news after which a provider is taken to have nothing under way.
constexpr int quiet_polls = 16;
constexpr auto closing_time = std::chrono::seconds(2);

std::uint64_t random_id() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

std::size_t eager_limit(const providers::Limits& limits) {
  const auto wanted = static_cast<std::size_t>(config::bytes("LATH_EAGER_BYTES"));
  return std::min(wanted, limits.max_control - std::min(limits.max_control, sizeof(wire::OneSided)));
}

Counters driver_counters() noexcept {
  Counters counters;
  counters.driver_calls = gpu::driver_counts().calls.load(std::memory_order_relaxed);
  counters.event_polls = gpu::driver_counts().event_polls.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace

Engine::Engine(Worker& worker, std::unique_ptr<providers::Provider> provider)
    : worker_(worker),
      provider_(std::move(provider)),
      id_(random_id()),
      eager_bytes_(eager_limit(provider_->limits())),
      check_buffers_(config::boolean("LATH_CHECK_BUFFERS")),
      uses_gpu_(gpu::availability().available),
      driver_at_start_(driver_counters()),
      factory_(*provider_, counters_),
      outbox_(*this, *provider_, id_),
      requests_(*this),
      deliveries_(*this),
      rendezvous_(*this),
      one_sided_(*this) {}

Engine::~Engine() {
  rendezvous_.cancel_all();
  const auto end = std::chrono::steady_clock::now() + closing_time;
  // Also what was injected, and has no completion, may still have to leave.
  for (int quiet = 0; operations_ > 0 || quiet < quiet_polls;) {
    const Result result = provider_->poll(*this);
    if (result.is_error() || std::chrono::steady_clock::now() > end) break;
    quiet = result.is_done() ? 0 : quiet + 1;
  }
  if (operations_ > 0) log::warn("{} operations had not ended when a worker closed", operations_);
  for (auto& peer : peers_) (void)outbox_.drop_backlog(*peer);
  rendezvous_.drop_all();
  one_sided_.drop_all();
}

WorkerAddress Engine::address() const {
  WorkerAddress address;
  address.provider = provider_->name();
  address.worker = id_;
  address.abilities.limits = limits();
  address.abilities.capabilities = factory_.capabilities();
  address.abilities.eager_window = eager_window();
  address.provider_address = provider_->address();
  return address;
}

std::int64_t Engine::eager_window() const noexcept {
  return std::max(smallest_window, 4 * static_cast<std::int64_t>(eager_bytes_));
}

Peer& Engine::connect(std::span<const std::byte> bytes, std::int32_t source) {
  const WorkerAddress address = WorkerAddress::decode(bytes);
  if (address.provider != provider_->name())
    throw Error(Code::invalid_argument, fmt::format("the address is of {}, this worker uses {}",
                                                    address.provider, provider_->name()));
  for (const auto& peer : peers_) {
    if (peer->worker() == address.worker)
      throw Error(Code::invalid_argument, fmt::format("already connected, as {}", peer->name()));
    if (peer->source() == source)
      throw Error(Code::invalid_argument, fmt::format("source {} already names another peer", source));
  }
  auto peer = std::make_unique<Peer>(*this, source, address.worker);
  peer->abilities = address.abilities;
  peer->send_window = address.abilities.eager_window;
  peer->id = provider_->connect(address.provider_address);
  Peer& connected = *peers_.emplace_back(std::move(peer));
  peers_by_worker_.emplace(address.worker, &connected);
  if (auto held = held_.extract(address.worker); !held.empty())
    for (const auto& message : held.mapped()) {
      held_bytes_ -= message.size();
      in_sequence(connected, message);
    }
  return connected;
}

const Layout& Engine::layout(const Data& data) {
  if (data.layout) return *data.layout;
  if (contiguous_.bytes() != data.bytes) contiguous_ = Layout::contiguous(data.bytes);
  return contiguous_;
}

Buffer Engine::buffer(const Data& data) {
  return {data.address, layout(data)};
}

Summary Engine::summary(const Request& request) {
  const auto memory = request.device ? providers::MemoryKind::device : providers::MemoryKind::host;
  return summarise(layout(request.data), memory);
}

// Without a GPU in use all memory is host memory, and nothing need be asked.
void Engine::look_at(Request& request) {
  request.device = request.mixed = false;
  if (!uses_gpu_ || request.data.bytes == 0) return;
  if (!request.data.layout) {
    const auto kind = gpu::memory_info(request.data.address).kind;
    if (kind == gpu::MemoryKind::host || kind == gpu::MemoryKind::pinned) {
      if (request.data.bytes <= static_cast<std::int64_t>(eager_bytes_)) return;
    }
  }
  const SchemeFactory::Placement placement = factory_.placement(buffer(request.data));
  request.device = placement.memory == providers::MemoryKind::device;
  request.mixed = placement.mixed;
}

Result Engine::check(const Request& request) {
  const bool reads = request.kind == Request::Kind::send || request.kind == Request::Kind::put;
  const Access access = reads ? Access::read : Access::write;
  const bool remember = !check_buffers_ && !request.device;
  if (remember && known_memory_.holds(request.data, access)) {
    // What was unmapped meanwhile would cost some providers the connection.
    if (request.data.bytes <= static_cast<std::int64_t>(eager_bytes_) || is_mapped(request.data))
      return Result::done();
  }
  MemoryCheck check = check_memory(request.data, access);
  if (remember && check.result.is_done()) known_memory_.add(request.data, access, check.whole);
  return std::move(check.result);
}

Request* Engine::make(Request::Kind kind, const Data& data, Result& result) {
  Request& request = requests_.take();
  request.kind = kind;
  request.data = data;
  look_at(request);
  result = check(request);
  if (result.is_done()) return &request;
  requests_.give_back(request);
  return nullptr;
}

Result Engine::start(Request& request) {
  if (request.state != Request::State::inactive)
    return Result::failure(Code::invalid_argument, "the request is already active");
  request.state = Request::State::active;
  request.error.reset();
  request.moved = request.announced = false;
  if (request.kind == Request::Kind::receive) {
    request.status = {};
    request.peer = nullptr;
    if (Arrival* message = matching_.find_arrival(request.key)) {
      auto& envelope = static_cast<Envelope&>(*message);
      matching_.remove(envelope);
      receive_taken(request, envelope);
      return Result::done();
    }
    if (any_dead_)
      for (const auto& peer : peers_)
        if (peer->dead != nullptr && peer->source() == request.key.source) {
          request.state = Request::State::inactive;
          return Result::failure(*peer->dead);
        }
    matching_.post(request);
    request.posted = true;
    return Result::done();
  }
  count_message(request);
  request.status = {request.peer->source(), request.key.tag, request.data.bytes};
  Result result =
      request.peer->dead != nullptr ? Result::failure(*request.peer->dead) : outbox_.start(request);
  if (result.is_error()) request.state = Request::State::inactive;
  return result;
}

void Engine::count_message(const Request& request) noexcept {
  ++counters_.messages;
  counters_.segments += static_cast<std::uint64_t>(request.data.segments());
}

void Engine::free(Request& request) noexcept {
  if (request.state == Request::State::active) {
    request.detached = true;
    return;
  }
  requests_.give_back(request);
}

Result Engine::cancel(Request& request) {
  if (!request.posted) return Result::done();
  matching_.withdraw(request);
  request.posted = false;
  fail(request, Error(Code::cancelled, "the receive was cancelled before a message matched it"));
  return Result::done();
}

Result Engine::progress() {
  Result result = provider_->poll(*this);
  if (!outbox_.idle()) outbox_.flush();
  if (!deliveries_.idle()) deliveries_.progress();
  if (!rendezvous_.idle()) rendezvous_.progress();
  if (!one_sided_.idle()) one_sided_.progress();
  if (!lost_.empty()) bury_lost();
  if (result.is_error()) fail_all(result.error());
  return result;
}

void Engine::on_completion(providers::Context context, std::size_t bytes, const Error* error) {
  --operations_;
  static_cast<Operation*>(context)->completed(bytes, error);
}

void Engine::on_unreachable(providers::PeerId id, const Error& error) {
  for (auto& peer : peers_)
    if (peer->id == id) lose(*peer, error);
}

const Peer* Engine::find_peer(std::uint64_t worker) const noexcept {
  const auto found = peers_by_worker_.find(worker);
  return found == peers_by_worker_.end() ? nullptr : found->second;
}

Request* Engine::find(std::uint64_t id, const Peer& peer, const char* what) noexcept {
  Request* request = requests_.find(id);
  if (request != nullptr && request->peer == &peer && request->state == Request::State::active)
    return request;
  log::debug("a {} from {} names no request of its own", what, peer.name());
  return nullptr;
}

void Engine::moved(Request& request, Scheme scheme) noexcept {
  request.moved = true;
  request.scheme = scheme;
}

void Engine::sent(Request& request) {
  if (request.kind == Request::Kind::put) return one_sided_.sent(request);
  complete(request);
}

void Engine::received(Request& request, std::int64_t sent) {
  if (sent <= request.data.bytes) return complete(request);
  fail(request, Error(Code::truncated,
                      fmt::format("a message of {} bytes from peer {} with tag {} met a "
                                  "receive of {} bytes",
                                  sent, request.status.source, request.status.tag, request.data.bytes)));
}

void Engine::complete(Request& request) noexcept {
  request.state = Request::State::complete;
  if (!request.detached) return;
  if (request.one_sided != nullptr) one_sided_.ended(request);
  requests_.give_back(request);
}

void Engine::fail(Request& request, const Error& why) {
  if (why.lath_code() != Code::truncated) request.status.bytes = 0;
  request.error = std::make_unique<Error>(why);
  complete(request);
}

void Engine::corrupt(Peer& peer, Request& request, const char* what) {
  log::error("{}: {}", peer.name(), what);
  rendezvous_.on_abort(request, std::make_unique<Error>(Code::corrupt, what, peer.name()));
}

void Engine::send_abort(Peer& peer, std::uint64_t request, const Error& why) {
  wire::Abort message;
  message.request = request;
  message.code = static_cast<std::uint32_t>(why.lath_code());
  const std::string_view text = std::string_view(why.what()).substr(0, wire::largest_text);
  message.text_bytes = static_cast<std::uint32_t>(text.size());
  outbox_.post(peer, wire::Kind::abort, message, std::as_bytes(std::span(text)));
}

void Engine::note_failure(Peer& peer, const Error& why) {
  if (why.lath_code() == Code::unreachable) lose(peer, why);
}

void Engine::lose(Peer& peer, const Error& why) {
  if (peer.dead != nullptr) return;
  peer.dead = std::make_unique<Error>(
      Code::unreachable, fmt::format("{} cannot be reached any more: {}", peer.name(), why.what()));
  bool waited_for = false;
  requests_.for_each([&](const Request& request) { waited_for = waited_for || waits_for(request, peer); });
  // Peers also go when all is done.
  waited_for ? log::warn("{}", peer.dead->what()) : log::info("{}", peer.dead->what());
  any_dead_ = true;
  lost_.push_back(&peer);
}

void Engine::fail_all(const Error& why) {
  rendezvous_.abandon(why);
  one_sided_.abandon(why);
  for (auto& peer : peers_) lose(*peer, why);
  bury_lost();
  matching_.for_each_posted([&](Posted& posted) {
    auto& request = static_cast<Request&>(posted);
    matching_.withdraw(request);
    request.posted = false;
    fail(request, why);
  });
}

void Engine::bury_lost() {
  while (!lost_.empty()) {
    Peer& peer = *lost_.back();
    lost_.pop_back();
    bury(peer);
  }
}

bool Engine::waits_for(const Request& request, const Peer& peer) noexcept {
  if (request.state != Request::State::active) return false;
  return request.posted ? request.key.source == peer.source() : request.peer == &peer;
}

// Ends what a lost peer will never end. Receives from any source go on.
void Engine::bury(Peer& peer) {
  const Error why = *peer.dead;
  for (Outgoing* item = outbox_.drop_backlog(peer); item != nullptr;) {
    auto& request = static_cast<Request&>(*item);
    item = item->next_outgoing;
    request.next_outgoing = nullptr;
    fail(request, why);
  }
  rendezvous_.lose(peer, why);
  one_sided_.lose(peer, why);
  requests_.for_each([&](Request& request) {
    if (!waits_for(request, peer)) return;
    if (request.posted) {
      matching_.withdraw(request);
      request.posted = false;
    } else if (request.delivery != nullptr || rendezvous_.holds(request) || one_sided_.holds(request)) {
      return;
    }
    fail(request, why);
  });
}

Counters Engine::counters() const noexcept {
  Counters all = counters_;
  all += provider_->counters();
  all += driver_counters();
  all -= driver_at_start_;
  return all;
}

std::vector<MemoryUse> Engine::memory() const {
  return {
      {"provider's own buffers", provider_->memory_bytes(), "fixed"},
      {"frames of messages on their way", outbox_.memory_bytes(), "fixed"},
      {"bounce buffers", factory_.memory_bytes(), fmt::format("{} bytes", factory_.memory_limit_bytes())},
      {"requests", requests_.memory_bytes(),
       fmt::format("{} bytes a request outstanding at once", sizeof(Request))},
      {"unexpected messages", envelopes_.memory_bytes(),
       fmt::format("{} bytes a message, and {} bytes of payload a peer", sizeof(Envelope),
                   2 * eager_window())},
      {"matching tables", matching_.memory_bytes(), "32 bytes a message or receive waiting at once"},
      {"messages before their peer's connect, layouts under way", held_bytes_ + one_sided_.memory_bytes(),
       fmt::format("{} bytes", OneSided::most_layout_bytes + most_held_bytes)},
  };
}

}  // namespace lath::transport
