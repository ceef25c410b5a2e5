#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "tests/cxi_stand_in/progress.hpp"
#include "tests/cxi_stand_in/record.hpp"
#include "tests/cxi_stand_in/rules.hpp"

/// Manual progress: what moves beyond the posting of an operation moves when the queue is read.
namespace lath::cxi_stand_in {
namespace {

constexpr std::size_t batch = 32;

CompletionQueue& queue_of(fid_cq* handle) {
  return *static_cast<CompletionQueue*>(handle);
}

/// Takes one failed operation from the carrier.
void take_failure(CompletionQueue& queue) {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(queue.carrier, &entry, 0) <= 0 || entry.op_context == nullptr) return;
  auto* request = static_cast<Request*>(entry.op_context);
  const bool transmits =
      request->kind != RequestKind::receive && request->kind != RequestKind::tagged_receive;
  if (transmits) --request->endpoint->issued;
  fail(request, entry);
}

void progress(CompletionQueue& queue) {
  for (Endpoint* endpoint : queue.endpoints) issue(*endpoint);
  std::array<fi_cq_tagged_entry, batch> entries;
  const ssize_t got = fi_cq_read(queue.carrier, entries.data(), entries.size());
  if (got == -FI_EAVAIL) return take_failure(queue);
  for (ssize_t i = 0; i < got; ++i) {
    const fi_cq_tagged_entry& entry = entries[static_cast<std::size_t>(i)];
    succeed(static_cast<Request*>(entry.op_context), entry);
  }
}

ssize_t read(fid_cq* handle, void* buffer, std::size_t count) {
  CompletionQueue& queue = queue_of(handle);
  progress(queue);
  if (queue.ended.empty()) return queue.failed.empty() ? -FI_EAGAIN : -FI_EAVAIL;
  const std::size_t taken = std::min(count, queue.ended.size());
  for (std::size_t i = 0; i < taken; ++i) {
    std::memcpy(static_cast<std::byte*>(buffer) + i * queue.entry_bytes, &queue.ended.front(),
                queue.entry_bytes);
    queue.ended.pop_front();
  }
  queue.reserved -= taken;
  record().completions += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t read_from(fid_cq* handle, void* buffer, std::size_t count, fi_addr_t* sources) {
  const ssize_t got = read(handle, buffer, count);
  for (ssize_t i = 0; i < got; ++i) sources[i] = FI_ADDR_NOTAVAIL;
  return got;
}

ssize_t read_error(fid_cq* handle, fi_cq_err_entry* entry, std::uint64_t) {
  CompletionQueue& queue = queue_of(handle);
  if (queue.failed.empty()) return -FI_EAGAIN;
  *entry = queue.failed.front();
  queue.failed.pop_front();
  --queue.reserved;
  ++record().completions;
  return 1;
}

const char* strerror(fid_cq* handle, int number, const void* data, char* buffer, std::size_t length) {
  return fi_cq_strerror(queue_of(handle).carrier, number, data, buffer, length);
}

int close(fid* handle) {
  auto& queue = object<CompletionQueue, fid_cq>(handle);
  if (!queue.endpoints.empty()) return refuse(FI_EBUSY, "a completion queue is closed before its endpoint");
  const int status = fi_close(&queue.carrier->fid);
  if (status != 0) return status;
  --queue.domain->users;
  delete &queue;
  return 0;
}

std::size_t bytes_of(fi_cq_format format) {
  switch (format) {
    case FI_CQ_FORMAT_CONTEXT:
      return sizeof(fi_cq_entry);
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    default:
      return sizeof(fi_cq_tagged_entry);
  }
}

fi_ops object_calls = calls_of_object(close);
fi_ops_cq queue_calls() {
  fi_ops_cq calls{};
  calls.size = sizeof calls;
  calls.read = read;
  calls.readfrom = read_from;
  calls.readerr = read_error;
  calls.strerror = strerror;
  return calls;
}
fi_ops_cq calls = queue_calls();

}  // namespace

int open_completion_queue(fid_domain* handle, fi_cq_attr* attributes, fid_cq** result, void* context) {
  auto& domain = *static_cast<Domain*>(handle);
  auto queue = std::make_unique<CompletionQueue>();
  fi_cq_attr wanted{};
  wanted.format = FI_CQ_FORMAT_TAGGED;
  wanted.wait_obj = FI_WAIT_NONE;
  if (attributes != nullptr && attributes->wait_obj != FI_WAIT_NONE)
    return refuse(FI_ENOSYS, "the stand-in has no wait objects");
  queue->size = attributes != nullptr && attributes->size != 0 ? attributes->size : default_completions;
  wanted.size = queue->size;
  const int status = fi_cq_open(domain.carrier, &wanted, &queue->carrier, nullptr);
  if (status != 0) return status;
  queue->fid = {.fclass = FI_CLASS_CQ, .context = context, .ops = &object_calls};
  queue->ops = &calls;
  queue->domain = &domain;
  queue->entry_bytes = bytes_of(attributes != nullptr ? attributes->format : FI_CQ_FORMAT_UNSPEC);
  ++domain.users;
  *result = queue.release();
  return 0;
}

}  // namespace lath::cxi_stand_in
