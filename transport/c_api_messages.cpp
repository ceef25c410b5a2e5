#include <fmt/format.h>
#include <sched.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "base/config.hpp"
#include "gpu/device.hpp"
#include "providers/registry.hpp"
#include "transport/c_api.hpp"

using namespace lath;
using namespace lath::transport;
using namespace lath::transport::c_api;

namespace {

/// A worker, with what its C handle hands out by pointer.
struct WorkerHandle final : Worker {
  WorkerHandle(std::unique_ptr<providers::Provider> provider, ThreadMode mode)
      : Worker(std::move(provider), mode), name(provider_name()) {}
  const std::string name;
};

WorkerHandle& handle_of(lath_worker worker) {
  return static_cast<WorkerHandle&>(worker_of(worker));
}

void check_tag(std::int64_t tag) {
  if (tag < 0 || tag > (std::int64_t{1} << 62)) refuse("tag", fmt::format("is {}, not from 0 to 2^62", tag));
}

MatchKey wanted(std::int32_t source, std::uint32_t context, std::int64_t tag) {
  if (source < 0 && source != LATH_ANY_SOURCE)
    refuse("source", fmt::format("is {}, neither a peer's number nor LATH_ANY_SOURCE", source));
  if (tag != LATH_ANY_TAG) check_tag(tag);
  return {context, source, tag};
}

lath_status fill(lath_message_status* status, const MessageStatus& from, lath_status error) {
  if (status != nullptr) *status = {from.source, from.tag, from.bytes, error};
  return error;
}

lath_status fill(lath_message_status* status, const Outcome& outcome) {
  return fill(status, outcome.status, outcome.error != nullptr ? remember(*outcome.error) : LATH_OK);
}

lath_status started(const Result& result, Request* request, lath_request* out) {
  *out = result.is_error() ? nullptr : handle(request);
  return status_of(result);
}

lath_status send(lath_peer to, const void* buffer, int64_t count, lath_type type, uint32_t context,
                 int64_t tag, bool synchronous, lath_request* out) {
  return guarded([&] {
    not_null(out, "request");
    Peer& peer = peer_of(to);
    check_tag(tag);
    Request* request = nullptr;
    const Data data = data_of(buffer, count, type);
    const Result result = peer.engine().worker().send(peer, data, context, tag, synchronous, request);
    return started(result, request, out);
  });
}

bool of_several_workers(std::span<const lath_request> requests) {
  const Worker* seen = nullptr;
  for (const lath_request request : requests) {
    if (request == nullptr) continue;
    const Worker* worker = &worker_of(request_of(request));
    if (seen != nullptr && worker != seen) return true;
    seen = worker;
  }
  return false;
}

/// Requests of several workers may wait for each other, so that all their workers must make progress.
Outcome wait_driving_all(Request& request, std::span<const lath_request> pending) {
  for (;;) {
    if (Outcome outcome = worker_of(request).test(request); outcome.complete) return outcome;
    for (const lath_request other : pending)
      // A worker's own failure shows in its requests.
      if (other != nullptr) static_cast<void>(worker_of(request_of(other)).progress());
    sched_yield();
  }
}

}  // namespace

lath_status lath_worker_create(const char* provider, lath_thread_mode mode, lath_worker* worker) {
  return guarded([&] {
    *not_null(worker, "worker") = nullptr;
    if (mode < LATH_THREAD_SINGLE || mode > LATH_THREAD_MULTIPLE) refuse("mode", "is not a lath_thread_mode");
    config::require_usable();
    gpu::require_emulator();
    auto made = std::make_unique<WorkerHandle>(providers::open(provider != nullptr ? provider : ""),
                                               static_cast<ThreadMode>(mode));
    *worker = reinterpret_cast<lath_worker>(static_cast<Worker*>(made.release()));
    return LATH_OK;
  });
}

void lath_worker_destroy(lath_worker worker) {
  if (worker != nullptr) delete &handle_of(worker);
}

const char* lath_worker_provider(lath_worker worker) {
  return worker != nullptr ? handle_of(worker).name.c_str() : "";
}

lath_status lath_worker_address(lath_worker worker, void* address, size_t* length) {
  return guarded([&] {
    not_null(length, "length");
    const auto bytes = worker_of(worker).address();
    const std::size_t capacity = std::exchange(*length, bytes.size());
    if (bytes.size() > capacity)
      refuse("*length", fmt::format("is {}, the address needs {} bytes", capacity, bytes.size()));
    std::memcpy(not_null(address, "address"), bytes.data(), bytes.size());
    return LATH_OK;
  });
}

lath_status lath_connect(lath_worker worker, const void* address, size_t length, int32_t source,
                         lath_peer* peer) {
  return guarded([&] {
    *not_null(peer, "peer") = nullptr;
    not_negative(source, "source");
    const auto* bytes = static_cast<const std::byte*>(not_null(address, "address"));
    *peer = reinterpret_cast<lath_peer>(&worker_of(worker).connect({bytes, length}, source));
    return LATH_OK;
  });
}

lath_status lath_send(lath_peer peer, const void* buffer, int64_t count, lath_type type, uint32_t context,
                      int64_t tag, lath_request* request) {
  return send(peer, buffer, count, type, context, tag, false, request);
}

lath_status lath_send_synchronous(lath_peer peer, const void* buffer, int64_t count, lath_type type,
                                  uint32_t context, int64_t tag, lath_request* request) {
  return send(peer, buffer, count, type, context, tag, true, request);
}

lath_status lath_receive(lath_worker worker, void* buffer, int64_t count, lath_type type, int32_t source,
                         uint32_t context, int64_t tag, lath_request* request) {
  return guarded([&] {
    not_null(request, "request");
    Request* made = nullptr;
    const Data data = data_of(buffer, count, type);
    const Result result = worker_of(worker).receive(data, wanted(source, context, tag), made);
    return started(result, made, request);
  });
}

lath_status lath_send_init(lath_peer to, const void* buffer, int64_t count, lath_type type, uint32_t context,
                           int64_t tag, lath_request* request) {
  return guarded([&] {
    not_null(request, "request");
    Peer& peer = peer_of(to);
    check_tag(tag);
    Request* made = nullptr;
    const Data data = data_of(buffer, count, type);
    const Result result = peer.engine().worker().prepare_send(peer, data, context, tag, made);
    return started(result, made, request);
  });
}

lath_status lath_receive_init(lath_worker worker, void* buffer, int64_t count, lath_type type, int32_t source,
                              uint32_t context, int64_t tag, lath_request* request) {
  return guarded([&] {
    not_null(request, "request");
    Request* made = nullptr;
    const Data data = data_of(buffer, count, type);
    const Result result = worker_of(worker).prepare_receive(data, wanted(source, context, tag), made);
    return started(result, made, request);
  });
}

lath_status lath_start(lath_request request) {
  return guarded([&] {
    Request& persistent = request_of(request);
    if (!persistent.persistent) refuse("request", "is not persistent");
    return status_of(worker_of(persistent).start(persistent));
  });
}

lath_status lath_request_free(lath_request request) {
  return guarded([&] {
    Request& given = request_of(request);
    worker_of(given).free(given);
    return LATH_OK;
  });
}

lath_status lath_probe(lath_worker worker, int32_t source, uint32_t context, int64_t tag, int* flag,
                       lath_message_status* status) {
  return guarded([&] {
    *not_null(flag, "flag") = 0;
    MessageStatus found;
    if (!worker_of(worker).probe(wanted(source, context, tag), found)) return LATH_OK;
    *flag = 1;
    return fill(status, found, LATH_OK);
  });
}

lath_status lath_probe_matched(lath_worker worker, int32_t source, uint32_t context, int64_t tag, int* flag,
                               lath_message* message, lath_message_status* status) {
  return guarded([&] {
    *not_null(flag, "flag") = 0;
    *not_null(message, "message") = nullptr;
    MessageStatus found;
    Envelope* taken = worker_of(worker).probe_matched(wanted(source, context, tag), found);
    if (taken == nullptr) return LATH_OK;
    *flag = 1;
    *message = reinterpret_cast<lath_message>(taken);
    return fill(status, found, LATH_OK);
  });
}

lath_status lath_receive_matched(lath_message message, void* buffer, int64_t count, lath_type type,
                                 lath_request* request) {
  return guarded([&] {
    not_null(request, "request");
    Envelope& envelope = *reinterpret_cast<Envelope*>(not_null(message, "message"));
    Request* made = nullptr;
    const Data data = data_of(buffer, count, type);
    Worker& worker = envelope.peer->engine().worker();
    const Result result = worker.receive_matched(envelope, data, made);
    return started(result, made, request);
  });
}

lath_status lath_progress(lath_worker worker) {
  return guarded([&] { return status_of(worker_of(worker).progress()); });
}

lath_status lath_test(lath_request* request, int* flag, lath_message_status* status) {
  return guarded([&] {
    *not_null(flag, "flag") = 0;
    Request& tested = request_of(*not_null(request, "request"));
    const bool persistent = tested.persistent;
    const Outcome outcome = worker_of(tested).test(tested);
    if (!outcome.complete) return LATH_OK;
    *flag = 1;
    if (!persistent) *request = nullptr;
    return fill(status, outcome);
  });
}

lath_status lath_wait(lath_request* request, lath_message_status* status) {
  return guarded([&] {
    Request& waited = request_of(*not_null(request, "request"));
    const bool persistent = waited.persistent;
    const Outcome outcome = worker_of(waited).wait(waited);
    if (!persistent) *request = nullptr;
    return fill(status, outcome);
  });
}

lath_status lath_wait_all(size_t count, lath_request* requests, lath_message_status* statuses) {
  return guarded([&] {
    if (count > 0) not_null(requests, "requests");
    const std::span<lath_request> waited(requests, count);
    const bool several = of_several_workers(waited);
    std::unique_ptr<Error> first;
    for (std::size_t i = 0; i < count; ++i) {
      if (waited[i] == nullptr) {
        if (statuses != nullptr) fill(&statuses[i], MessageStatus{}, LATH_OK);
        continue;
      }
      Request& request = request_of(waited[i]);
      const bool persistent = request.persistent;
      Outcome outcome =
          several ? wait_driving_all(request, waited.subspan(i)) : worker_of(request).wait(request);
      if (!persistent) waited[i] = nullptr;
      fill(statuses != nullptr ? &statuses[i] : nullptr, outcome);
      if (first == nullptr) first = std::move(outcome.error);
    }
    return first != nullptr ? remember(*first) : LATH_OK;
  });
}

lath_status lath_cancel(lath_request request) {
  return guarded([&] {
    Request& given = request_of(request);
    return status_of(worker_of(given).cancel(given));
  });
}

lath_status lath_worker_counter(lath_worker worker, const char* name, uint64_t* value) {
  return guarded([&] {
    const std::string_view wanted = not_null(name, "name");
    not_null(value, "value");
    const Counters counters = worker_of(worker).counters();
    for (const auto& [key, count] : counters.fields())
      if (key == wanted) {
        *value = count;
        return LATH_OK;
      }
    refuse("name", fmt::format("'{}' is no counter", wanted));
  });
}

const char* lath_request_scheme(lath_request request) {
  if (request == nullptr) return "";
  Request& given = request_of(request);
  return worker_of(given).scheme(given).data();
}
