#include "tests/cxi_stand_in/post.hpp"

#include <rdma/fi_errno.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "tests/cxi_stand_in/device_pages.hpp"
#include "tests/cxi_stand_in/progress.hpp"
#include "tests/cxi_stand_in/record.hpp"
#include "tests/cxi_stand_in/rules.hpp"

/// What an application posts: checked by cxi's rules, then held until the doorbell.
namespace lath::cxi_stand_in {
namespace {

/// An operation as it was posted.
struct Posted {
  RequestKind kind = RequestKind::send;
  const void* buffer = nullptr;
  std::size_t length = 0;
  fi_addr_t peer = FI_ADDR_UNSPEC;
  void* context = nullptr;
  std::uint64_t flags = 0;
  std::uint64_t tag = 0, ignore = 0;
  std::uint64_t remote_address = 0, key = 0;
};

Endpoint& endpoint_of(fid_ep* handle) {
  return *static_cast<Endpoint*>(handle);
}

bool is_rma(RequestKind kind) {
  return kind == RequestKind::write || kind == RequestKind::read;
}
bool is_tagged(RequestKind kind) {
  return kind == RequestKind::tagged_send || kind == RequestKind::tagged_receive;
}
bool is_receive(RequestKind kind) {
  return kind == RequestKind::receive || kind == RequestKind::tagged_receive;
}

std::uint64_t allowed_flags(RequestKind kind) {
  switch (kind) {
    case RequestKind::write:
      return write_flags;
    case RequestKind::read:
      return read_flags;
    case RequestKind::receive:
    case RequestKind::tagged_receive:
      return receive_flags;
    default:
      return send_flags;
  }
}

/// 0, or what cxi refuses with.
int check(const Endpoint& endpoint, const Posted& posted) {
  if (!endpoint.enabled) return refuse(FI_EOPBADSTATE, "an operation on an endpoint that is not enabled");
  if (posted.length > 0 && posted.buffer == nullptr)
    return refuse(FI_EINVAL, "an operation on a null buffer");
  if (posted.length > longest_message) return refuse(FI_EMSGSIZE, "a message over the limit");
  if (is_tagged(posted.kind) && (posted.tag & ~tag_mask) != 0)
    return refuse(FI_EINVAL, "a tag of more than 48 bits");
  if ((posted.flags & ~allowed_flags(posted.kind)) != 0) return refuse(FI_EBADFLAGS, "a flag that cxi lacks");
  if ((posted.flags & FI_FENCE) != 0 && !endpoint.fence)
    return refuse(FI_EINVAL, "FI_FENCE that was not asked for at the start");
  if (!is_receive(posted.kind) && (posted.flags & FI_INJECT) != 0 && posted.length > most_injected)
    return refuse(FI_EMSGSIZE, "an injected message over the limit");
  if (is_rma(posted.kind) && posted.key == FI_KEY_NOTAVAIL)
    return refuse(FI_EKEYREJECTED, "the key of a region that is not enabled");
  return 0;
}

int check_place(const Endpoint& endpoint, const Posted& posted, const Place& place) {
  if (place.lost) return refuse(FI_EINVAL, "device addresses of no single allocation");
  if (!place.device) return 0;
  if (!endpoint.domain->device_memory) return refuse(FI_EINVAL, "device memory without FI_HMEM");
  if (!is_receive(posted.kind) && (posted.flags & FI_INJECT) != 0)
    return refuse(FI_EINVAL, "device memory is injected");
  return 0;
}

void ring(Endpoint& endpoint) {
  if (endpoint.held.empty()) return;
  ++record().doorbells;
  if (endpoint.held.size() > 1) ++record().batches;
  endpoint.rung.insert(endpoint.rung.end(), endpoint.held.begin(), endpoint.held.end());
  endpoint.held.clear();
  issue(endpoint);
}

/// Whether the queues that the application asked for have room for one more.
bool has_room(Endpoint& endpoint, RequestKind kind) {
  const CompletionQueue& queue = is_receive(kind) ? *endpoint.receive_queue : *endpoint.transmit_queue;
  if (queue.reserved >= queue.size) return false;
  return is_receive(kind) ? endpoint.receives < endpoint.receive_size
                          : endpoint.transmits < endpoint.transmit_size;
}

Request* request_for(Endpoint& endpoint, const Posted& posted, void* address) {
  Request* request = endpoint.domain->requests.take();
  request->endpoint = &endpoint;
  request->context = posted.context;
  request->kind = posted.kind;
  const bool selective = is_receive(posted.kind) ? endpoint.selective_receive : endpoint.selective_transmit;
  request->reported = !selective || (posted.flags & FI_COMPLETION) != 0;
  request->fenced = (posted.flags & FI_FENCE) != 0;
  request->delivery = (posted.flags & FI_DELIVERY_COMPLETE) != 0;
  request->peer = posted.peer;
  request->buffer = address;
  request->length = posted.length;
  request->tag = posted.tag;
  request->ignore = posted.ignore;
  request->remote_address = posted.remote_address;
  request->key = posted.key;
  return request;
}

void count(const Posted& posted, const Place& place) {
  ++record().operations;
  if (place.device) ++record().device_operations;
  if (posted.kind == RequestKind::write) ++record().writes;
  if ((posted.flags & FI_INJECT) != 0) ++record().injects;
  if ((posted.flags & FI_DELIVERY_COMPLETE) != 0) ++record().flushes;
}

void keep_injected(Request* request) {
  if (request->length > 0) std::memcpy(request->injected.data(), request->buffer, request->length);
  request->buffer = request->injected.data();
}

/// A receive, which needs no doorbell.
ssize_t listen(Endpoint& endpoint, Request* request) {
  ++endpoint.receives;
  ++endpoint.receive_queue->reserved;
  endpoint.listening.push_back(request);
  issue(endpoint);
  return 0;
}

/// An inject call ends when it returns, so nobody may poll for it: it is taken if it leaves at once.
ssize_t leave_at_once(Endpoint& endpoint, Request* request) {
  request->reported = false;
  ring(endpoint);
  if (const int status = issue_now(request)) {
    endpoint.domain->requests.give_back(request);
    return status == -FI_EAGAIN ? full() : status;
  }
  ++record().doorbells;
  return 0;
}

ssize_t post(Endpoint& endpoint, const Posted& posted, bool inject_call = false) {
  if (const int status = check(endpoint, posted)) return status;
  const Place place = place_of(posted.buffer, posted.length);
  if (const int status = check_place(endpoint, posted, place)) return status;
  // What is held stays so: cxi rings for nobody.
  if (!has_room(endpoint, posted.kind)) return full();
  Request* request = request_for(endpoint, posted, place.address);
  if (is_receive(posted.kind)) return listen(endpoint, request);
  if ((posted.flags & FI_INJECT) != 0) keep_injected(request);
  if (inject_call) {
    if (const ssize_t status = leave_at_once(endpoint, request)) return status;
  }
  count(posted, place);
  ++endpoint.transmits;
  ++endpoint.transmit_queue->reserved;
  if (inject_call) return 0;
  endpoint.held.push_back(request);
  if ((posted.flags & FI_MORE) == 0) ring(endpoint);
  return 0;
}

/// Takes a list of at most one entry.
bool take_list(const iovec* list, std::size_t count, Posted& posted) {
  if (count > 1 || (count == 1 && list == nullptr)) return false;
  if (count == 1) {
    posted.buffer = list->iov_base;
    posted.length = list->iov_len;
  }
  return true;
}

ssize_t post_list(fid_ep* endpoint, const iovec* list, std::size_t count, Posted posted) {
  if (!take_list(list, count, posted)) return refuse(FI_EINVAL, "a list of more than one segment");
  return post(endpoint_of(endpoint), posted);
}

// FI_MSG

ssize_t receive(fid_ep* to, void* buffer, std::size_t length, void*, fi_addr_t source, void* context) {
  return post(
      endpoint_of(to),
      {.kind = RequestKind::receive, .buffer = buffer, .length = length, .peer = source, .context = context});
}

ssize_t receive_list(fid_ep* to, const iovec* list, void**, std::size_t count, fi_addr_t source,
                     void* context) {
  return post_list(to, list, count, {.kind = RequestKind::receive, .peer = source, .context = context});
}

ssize_t receive_message(fid_ep* to, const fi_msg* message, std::uint64_t flags) {
  return post_list(
      to, message->msg_iov, message->iov_count,
      {.kind = RequestKind::receive, .peer = message->addr, .context = message->context, .flags = flags});
}

ssize_t send(fid_ep* from, const void* buffer, std::size_t length, void*, fi_addr_t peer, void* context) {
  return post(
      endpoint_of(from),
      {.kind = RequestKind::send, .buffer = buffer, .length = length, .peer = peer, .context = context});
}

ssize_t send_list(fid_ep* from, const iovec* list, void**, std::size_t count, fi_addr_t peer, void* context) {
  return post_list(from, list, count, {.kind = RequestKind::send, .peer = peer, .context = context});
}

ssize_t send_message(fid_ep* from, const fi_msg* message, std::uint64_t flags) {
  return post_list(
      from, message->msg_iov, message->iov_count,
      {.kind = RequestKind::send, .peer = message->addr, .context = message->context, .flags = flags});
}

ssize_t inject(fid_ep* from, const void* buffer, std::size_t length, fi_addr_t peer) {
  return post(
      endpoint_of(from),
      {.kind = RequestKind::send, .buffer = buffer, .length = length, .peer = peer, .flags = FI_INJECT},
      true);
}

// FI_TAGGED

ssize_t tagged_receive(fid_ep* to, void* buffer, std::size_t length, void*, fi_addr_t source,
                       std::uint64_t tag, std::uint64_t ignore, void* context) {
  return post(endpoint_of(to), {.kind = RequestKind::tagged_receive,
                                .buffer = buffer,
                                .length = length,
                                .peer = source,
                                .context = context,
                                .tag = tag,
                                .ignore = ignore});
}

ssize_t tagged_receive_message(fid_ep* to, const fi_msg_tagged* message, std::uint64_t flags) {
  return post_list(to, message->msg_iov, message->iov_count,
                   {.kind = RequestKind::tagged_receive,
                    .peer = message->addr,
                    .context = message->context,
                    .flags = flags,
                    .tag = message->tag,
                    .ignore = message->ignore});
}

ssize_t tagged_send(fid_ep* from, const void* buffer, std::size_t length, void*, fi_addr_t peer,
                    std::uint64_t tag, void* context) {
  return post(endpoint_of(from), {.kind = RequestKind::tagged_send,
                                  .buffer = buffer,
                                  .length = length,
                                  .peer = peer,
                                  .context = context,
                                  .tag = tag});
}

ssize_t tagged_send_message(fid_ep* from, const fi_msg_tagged* message, std::uint64_t flags) {
  return post_list(from, message->msg_iov, message->iov_count,
                   {.kind = RequestKind::tagged_send,
                    .peer = message->addr,
                    .context = message->context,
                    .flags = flags,
                    .tag = message->tag});
}

ssize_t tagged_inject(fid_ep* from, const void* buffer, std::size_t length, fi_addr_t peer,
                      std::uint64_t tag) {
  return post(endpoint_of(from),
              {.kind = RequestKind::tagged_send,
               .buffer = buffer,
               .length = length,
               .peer = peer,
               .flags = FI_INJECT,
               .tag = tag},
              true);
}

// FI_RMA

ssize_t post_rma(fid_ep* from, RequestKind kind, const fi_msg_rma* message, std::uint64_t flags) {
  if (message->rma_iov_count != 1) return refuse(FI_EINVAL, "an RMA operation on more than one remote range");
  return post_list(from, message->msg_iov, message->iov_count,
                   {.kind = kind,
                    .peer = message->addr,
                    .context = message->context,
                    .flags = flags,
                    .remote_address = message->rma_iov->addr,
                    .key = message->rma_iov->key});
}

ssize_t write_message(fid_ep* from, const fi_msg_rma* message, std::uint64_t flags) {
  return post_rma(from, RequestKind::write, message, flags);
}

ssize_t read_message(fid_ep* from, const fi_msg_rma* message, std::uint64_t flags) {
  return post_rma(from, RequestKind::read, message, flags);
}

fi_ops_msg make_message_calls() {
  fi_ops_msg calls{};
  calls.size = sizeof calls;
  calls.recv = receive;
  calls.recvv = receive_list;
  calls.recvmsg = receive_message;
  calls.send = send;
  calls.sendv = send_list;
  calls.sendmsg = send_message;
  calls.inject = inject;
  return calls;
}

fi_ops_tagged make_tagged_calls() {
  fi_ops_tagged calls{};
  calls.size = sizeof calls;
  calls.recv = tagged_receive;
  calls.recvmsg = tagged_receive_message;
  calls.send = tagged_send;
  calls.sendmsg = tagged_send_message;
  calls.inject = tagged_inject;
  return calls;
}

fi_ops_rma make_rma_calls() {
  fi_ops_rma calls{};
  calls.size = sizeof calls;
  calls.readmsg = read_message;
  calls.writemsg = write_message;
  return calls;
}

}  // namespace

fi_ops_msg* message_calls() {
  static fi_ops_msg calls = make_message_calls();
  return &calls;
}

fi_ops_tagged* tagged_calls() {
  static fi_ops_tagged calls = make_tagged_calls();
  return &calls;
}

fi_ops_rma* rma_calls() {
  static fi_ops_rma calls = make_rma_calls();
  return &calls;
}

ssize_t cancel(fid* handle, void* context) {
  auto& endpoint = object<Endpoint, fid_ep>(handle);
  const auto of_context = [&](const Request* request) { return request->context == context; };
  const auto waiting = std::find_if(endpoint.listening.begin(), endpoint.listening.end(), of_context);
  if (waiting != endpoint.listening.end()) {
    Request* request = *waiting;
    endpoint.listening.erase(waiting);
    fi_cq_err_entry entry{};
    entry.err = entry.prov_errno = FI_ECANCELED;
    fail(request, entry);
    return 0;
  }
  const auto posted = std::find_if(endpoint.posted.begin(), endpoint.posted.end(), of_context);
  if (posted == endpoint.posted.end()) return -FI_ENOENT;
  return fi_cancel(&endpoint.carrier->fid, *posted);
}

}  // namespace lath::cxi_stand_in
