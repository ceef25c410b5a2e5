#include "transport/worker.hpp"

#include <sched.h>

#include <mutex>

#include "base/config.hpp"
#include "base/log.hpp"

namespace lath::transport {
namespace {

/// A misspelt variable would otherwise be a setting that silently does nothing.
void warn_of_unknown_variables() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const config::Unknown& variable : config::unknown())
      log::warn("{} is not a variable of Lath; did you mean {}?", variable.name, variable.nearest);
  });
}

}  // namespace

Worker::Worker(std::unique_ptr<providers::Provider> provider, ThreadMode mode)
    : mode_(mode),
      spin_(config::integer("LATH_SPIN")),
      engine_(std::make_unique<Engine>(*this, std::move(provider))) {
  warn_of_unknown_variables();
}

Worker::~Worker() = default;

std::unique_lock<std::mutex> Worker::lock() {
  if (mode_ == ThreadMode::multiple) return std::unique_lock(mutex_);
  return {};
}

std::string Worker::provider_name() const {
  return engine_->provider().name();
}

std::vector<std::byte> Worker::address() {
  const auto held = lock();
  return engine_->address().encode();
}

Peer& Worker::connect(std::span<const std::byte> address, std::int32_t source) {
  const auto held = lock();
  return engine_->connect(address, source);
}

Result Worker::make(Request::Kind kind, const Data& data, Request*& request) {
  Result result = Result::done();
  request = engine_->make(kind, data, result);
  return result;
}

Result Worker::launch(Request*& request) {
  Result result = engine_->start(*request);
  if (result.is_done()) return result;
  engine_->free(*request);
  request = nullptr;
  return result;
}

Result Worker::send(Peer& peer, const Data& data, std::uint32_t context, std::int64_t tag, bool synchronous,
                    Request*& request) {
  const auto held = lock();
  Result result = make(Request::Kind::send, data, request);
  if (!result.is_done()) return result;
  request->peer = &peer;
  request->key = {context, peer.source(), tag};
  request->synchronous = synchronous;
  return launch(request);
}

Result Worker::receive(const Data& data, const MatchKey& key, Request*& request) {
  const auto held = lock();
  Result result = make(Request::Kind::receive, data, request);
  if (!result.is_done()) return result;
  request->key = key;
  return launch(request);
}

Result Worker::prepare_send(Peer& peer, const Data& data, std::uint32_t context, std::int64_t tag,
                            Request*& request) {
  const auto held = lock();
  Result result = make(Request::Kind::send, data, request);
  if (!result.is_done()) return result;
  request->peer = &peer;
  request->key = {context, peer.source(), tag};
  request->persistent = true;
  return result;
}

Result Worker::prepare_receive(const Data& data, const MatchKey& key, Request*& request) {
  const auto held = lock();
  Result result = make(Request::Kind::receive, data, request);
  if (!result.is_done()) return result;
  request->key = key;
  request->persistent = true;
  return result;
}

Result Worker::start(Request& request) {
  const auto held = lock();
  return engine_->start(request);
}

void Worker::free(Request& request) {
  const auto held = lock();
  engine_->free(request);
}

bool Worker::probe(const MatchKey& key, MessageStatus& status) {
  const auto held = lock();
  (void)engine_->progress();
  const Envelope* message = engine_->find_message(key);
  if (message == nullptr) return false;
  status = {message->key.source, message->key.tag, message->bytes};
  return true;
}

Envelope* Worker::probe_matched(const MatchKey& key, MessageStatus& status) {
  const auto held = lock();
  (void)engine_->progress();
  Envelope* message = engine_->find_message(key);
  if (message == nullptr) return nullptr;
  status = {message->key.source, message->key.tag, message->bytes};
  engine_->take_message(*message);
  return message;
}

Result Worker::receive_matched(Envelope& message, const Data& data, Request*& request) {
  const auto held = lock();
  Result result = make(Request::Kind::receive, data, request);
  if (!result.is_done()) return result;
  request->key = message.key;
  engine_->receive_taken(*request, message);
  return result;
}

Result Worker::progress() {
  const auto held = lock();
  return engine_->progress();
}

Outcome Worker::take_outcome(Request& request) {
  Outcome outcome;
  // A persistent request that is not active counts as complete, as MPI has it.
  if (!request.is_complete() && request.state != Request::State::inactive) return outcome;
  outcome.complete = true;
  outcome.status = request.status;
  outcome.error = std::move(request.error);
  if (request.persistent)
    request.state = Request::State::inactive;
  else
    engine_->free(request);
  return outcome;
}

Outcome Worker::test(Request& request) {
  const auto held = lock();
  if (!request.is_complete()) (void)engine_->progress();
  return take_outcome(request);
}

Outcome Worker::wait(Request& request) {
  for (std::int64_t polls = 0;; ++polls) {
    {
      const auto held = lock();
      if (request.is_complete() || request.state == Request::State::inactive) return take_outcome(request);
      const Result result = engine_->progress();
      if (request.is_complete()) return take_outcome(request);
      if (result.is_done()) polls = 0;
    }
    if (polls >= spin_) sched_yield();
  }
}

Result Worker::cancel(Request& request) {
  const auto held = lock();
  return engine_->cancel(request);
}

std::string_view Worker::scheme(const Request& request) {
  const auto held = lock();
  return request.moved ? name(request.scheme) : std::string_view{};
}

Region& Worker::open_region(void* address, std::size_t bytes) {
  const auto held = lock();
  return engine_->one_sided().open(address, bytes);
}

void Worker::close_region(Region& region) {
  const auto held = lock();
  engine_->one_sided().close(region);
}

Result Worker::one_sided(Request::Kind kind, Peer& peer, const Data& origin, const RegionKey& key,
                         std::int64_t offset, const Layout& target, Request*& request) {
  const auto held = lock();
  Result result = make(kind, origin, request);
  if (!result.is_done()) return result;
  request->peer = &peer;
  result = engine_->one_sided().start(*request, key, offset, target);
  if (result.is_done()) return result;
  engine_->free(*request);
  request = nullptr;
  return result;
}

Result Worker::put(Peer& peer, const Data& origin, const RegionKey& key, std::int64_t offset,
                   const Layout& target, Request*& request) {
  return one_sided(Request::Kind::put, peer, origin, key, offset, target, request);
}

Result Worker::get(Peer& peer, const Data& origin, const RegionKey& key, std::int64_t offset,
                   const Layout& target, Request*& request) {
  return one_sided(Request::Kind::get, peer, origin, key, offset, target, request);
}

Counters Worker::counters() {
  const auto held = lock();
  return engine_->counters();
}

std::vector<MemoryUse> Worker::memory() {
  const auto held = lock();
  return engine_->memory();
}

std::size_t Worker::memory_bytes() {
  std::size_t bytes = 0;
  for (const MemoryUse& use : memory()) bytes += use.bytes;
  return bytes;
}

}  // namespace lath::transport
