#include "tests/cxi_stand_in/progress.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sys/uio.h>

#include <algorithm>

namespace lath::cxi_stand_in {
namespace {

bool is_receive(const Request& request) {
  return request.kind == RequestKind::receive || request.kind == RequestKind::tagged_receive;
}

ssize_t hand_over_rma(Endpoint& endpoint, Request& request) {
  iovec local{request.buffer, request.length};
  fi_rma_iov remote{request.remote_address, request.length, request.key};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.iov_count = 1;
  message.addr = request.peer;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = &request;
  if (request.kind == RequestKind::read) return fi_readmsg(endpoint.carrier, &message, FI_COMPLETION);
  return fi_writemsg(endpoint.carrier, &message,
                     FI_COMPLETION | (request.delivery ? FI_DELIVERY_COMPLETE : 0));
}

ssize_t hand_over(Endpoint& endpoint, Request& request) {
  fid_ep* const to = endpoint.carrier;
  switch (request.kind) {
    case RequestKind::send:
      return fi_send(to, request.buffer, request.length, nullptr, request.peer, &request);
    case RequestKind::tagged_send:
      return fi_tsend(to, request.buffer, request.length, nullptr, request.peer, request.tag, &request);
    case RequestKind::receive:
      return fi_recv(to, request.buffer, request.length, nullptr, request.peer, &request);
    case RequestKind::tagged_receive:
      return fi_trecv(to, request.buffer, request.length, nullptr, request.peer, request.tag, request.ignore,
                      &request);
    case RequestKind::write:
    case RequestKind::read:
      return hand_over_rma(endpoint, request);
  }
  return -FI_EINVAL;
}

CompletionQueue& end(Request* request) {
  Endpoint& endpoint = *request->endpoint;
  if (!is_receive(*request)) {
    --endpoint.transmits;
    return *endpoint.transmit_queue;
  }
  --endpoint.receives;
  std::erase(endpoint.posted, request);
  return *endpoint.receive_queue;
}

void fail_at_once(Request* request, ssize_t status) {
  fi_cq_err_entry entry{};
  entry.err = static_cast<int>(-status);
  entry.prov_errno = entry.err;
  fail(request, entry);
}

// A fenced operation waits for all before it, and those after it wait with it.
bool waits_for_fence(const Endpoint& endpoint, const Request& request) {
  return request.fenced && endpoint.issued > 0;
}

}  // namespace

void issue(Endpoint& endpoint) {
  while (!endpoint.listening.empty()) {
    Request* request = endpoint.listening.front();
    const ssize_t status = hand_over(endpoint, *request);
    if (status == -FI_EAGAIN) break;
    endpoint.listening.pop_front();
    if (status != 0)
      fail_at_once(request, status);
    else
      endpoint.posted.push_back(request);
  }
  while (!endpoint.rung.empty() && !waits_for_fence(endpoint, *endpoint.rung.front())) {
    Request* request = endpoint.rung.front();
    ++endpoint.issued;
    const ssize_t status = hand_over(endpoint, *request);
    if (status != 0) --endpoint.issued;
    if (status == -FI_EAGAIN) break;
    endpoint.rung.pop_front();
    if (status != 0) fail_at_once(request, status);
  }
}

int issue_now(Request* request) {
  Endpoint& endpoint = *request->endpoint;
  if (!endpoint.rung.empty()) return -FI_EAGAIN;
  ++endpoint.issued;
  const auto status = static_cast<int>(hand_over(endpoint, *request));
  if (status != 0) --endpoint.issued;
  return status;
}

void succeed(Request* request, const fi_cq_tagged_entry& entry) {
  if (!is_receive(*request)) --request->endpoint->issued;
  CompletionQueue& queue = end(request);
  if (request->reported) {
    queue.ended.push_back(entry);
    queue.ended.back().op_context = request->context;
  } else {
    --queue.reserved;
  }
  queue.domain->requests.give_back(request);
}

void fail(Request* request, fi_cq_err_entry entry) {
  CompletionQueue& queue = end(request);
  entry.op_context = request->context;
  queue.failed.push_back(entry);
  queue.domain->requests.give_back(request);
}

}  // namespace lath::cxi_stand_in
