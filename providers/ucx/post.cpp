#include <array>
#include <utility>

#include "providers/ucx/failure.hpp"
#include "providers/ucx/memory.hpp"
#include "providers/ucx/provider.hpp"

/// The operations that a worker hands over.
namespace lath::providers::ucx {
namespace {

ucp_request_param_t parameters_of(const Vector& vector, Operation& operation) noexcept {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
  parameters.datatype = vector.datatype;
  parameters.user_data = &operation;
  return parameters;
}

// UCX would look the memory up, or map it.
void add_handle(ucp_request_param_t& parameters, std::span<const Segment> list) noexcept {
  if (list.size() != 1 || list.front().registration == nullptr) return;
  parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
  parameters.memh = static_cast<const MappedMemory*>(list.front().registration)->handle();
}

std::size_t total(std::span<const Segment> list) noexcept {
  std::size_t bytes = 0;
  for (const Segment& segment : list) bytes += segment.length;
  return bytes;
}

}  // namespace

UcxProvider::Peer* UcxProvider::find(PeerId id, std::size_t list_length, Result& result) noexcept {
  if (id >= peers_.size() || (peers_[id]->endpoint == nullptr && peers_[id]->death.empty())) {
    result = Result::failure(Code::invalid_argument, "peer " + std::to_string(id) + " is not connected");
    return nullptr;
  }
  if (list_length > longest_list) {
    result = Result::failure(Code::invalid_argument,
                             "a list of " + std::to_string(list_length) + " segments is beyond limits()");
    return nullptr;
  }
  Peer& peer = *peers_[id];
  if (peer.closed != nullptr && peer.death.empty()) look_at(peer);
  if (!peer.death.empty()) {
    result = Result::failure(Code::unreachable, peer.text + ": " + peer.death, name_);
    return nullptr;
  }
  return &peer;
}

void UcxProvider::ended(Operation* operation, ucs_status_t status) noexcept {
  operation->request = nullptr;
  operation->status = status;
  ended_.add(operation);
}

Result UcxProvider::posted(void* request, OperationPool& pool, Operation* operation,
                           const char* doing) noexcept {
  if (UCS_PTR_IS_PTR(request)) {
    operation->request = request;
    return Result::done();
  }
  const ucs_status_t status = UCS_PTR_RAW_STATUS(request);
  if (status == UCS_OK) {
    operation->bytes = operation->received.length;
    ended(operation, status);
    return Result::done();
  }
  // A message that had come before its receive: its end is told as any other's.
  if (operation->kind == OperationKind::tagged_receive && status == UCS_ERR_MESSAGE_TRUNCATED) {
    ended(operation, status);
    return Result::done();
  }
  pool.give_back(operation);
  if ((status == UCS_ERR_NO_RESOURCE || status == UCS_ERR_NO_MEMORY) && pool.in_use() > 0)
    return Result::again();
  return Result::failure(failure(status, std::string(doing) + ' ' + peers_[operation->peer]->text));
}

void UcxProvider::count(std::span<const Segment> list, unsigned flags) noexcept {
  ++counters_.work_requests;
  doorbell_due_ = (flags & more) != 0;
  if (!doorbell_due_) ++counters_.doorbells;
  counters_.wire_bytes += total(list);
}

void UcxProvider::on_sent(void* request, ucs_status_t status, void* user) {
  auto* operation = static_cast<Operation*>(user);
  library()->request_free(request);
  operation->owner->ended(operation, status);
}

void UcxProvider::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                              void* user) {
  auto* operation = static_cast<Operation*>(user);
  library()->request_free(request);
  operation->bytes = info != nullptr ? info->length : 0;
  operation->owner->ended(operation, status);
}

Result UcxProvider::send_message(unsigned id, std::span<const Segment> list, Operation* operation) noexcept {
  const Vector vector = as_vector(list, *operation);
  ucp_request_param_t parameters = parameters_of(vector, *operation);
  parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_AM_SEND_FLAG_EAGER;
  parameters.cb.send = on_sent;
  // What comes from within must not reach a caller that is sending.
  Events* const listening = std::exchange(listening_, nullptr);
  void* request = library()->am_send_nbx(peers_[operation->peer]->endpoint, id, nullptr, 0, vector.buffer,
                                         vector.count, &parameters);
  listening_ = listening;
  return posted(request, transmits_, operation, "send to");
}

// UCX takes messages before a connection stands, and makes it only while their sender polls. So that nobody
// takes such a message for sent, the first one is the provider's own, and others are refused until it has
// left.
Result UcxProvider::greet(PeerId id) noexcept {
  // Long enough not to be sent in one word with its header, which may go before the rest is ready.
  static std::array<std::byte, 1024> nothing{};
  Operation* operation = transmits_.take(OperationKind::transmit, id, nullptr);
  if (operation == nullptr) return Result::again();
  const Segment segment{nothing.data(), nothing.size(), nullptr};
  Result result = send_message(greeting_id, {&segment, 1}, operation);
  peers_[id]->greeting = result.is_done();
  return result.is_error() ? std::move(result) : Result::again();
}

Result UcxProvider::send(PeerId id, std::span<const Segment> list, Context context, unsigned flags) noexcept {
  Result result = Result::done();
  Peer* peer = find(id, list.size(), result);
  if (peer == nullptr) return result;
  if (context == nullptr) return Result::failure(Code::invalid_argument, name_ + " injects nothing");
  if (!peer->greeted) return peer->greeting ? Result::again() : greet(id);
  Operation* operation = transmits_.take(OperationKind::transmit, id, context);
  if (operation == nullptr) return Result::again();
  result = send_message(message_id, list, operation);
  if (result.is_done()) count(list, flags);
  return result;
}

Result UcxProvider::send_tagged(PeerId id, std::span<const Segment> list, std::uint64_t tag, Context context,
                                unsigned flags) noexcept {
  Result result = Result::done();
  Peer* peer = find(id, list.size(), result);
  if (peer == nullptr) return result;
  Operation* operation = transmits_.take(OperationKind::transmit, id, context);
  if (operation == nullptr) return Result::again();
  const Vector vector = as_vector(list, *operation);
  ucp_request_param_t parameters = parameters_of(vector, *operation);
  parameters.cb.send = on_sent;
  add_handle(parameters, list);
  result = posted(library()->tag_send_nbx(peer->endpoint, vector.buffer, vector.count, tag, &parameters),
                  transmits_, operation, "tagged send to");
  if (result.is_done()) count(list, flags);
  return result;
}

Result UcxProvider::receive_tagged(PeerId id, std::span<const Segment> list, std::uint64_t tag,
                                   Context context) noexcept {
  Result result = Result::done();
  if (find(id, list.size(), result) == nullptr) return result;
  Operation* operation = receives_.take(OperationKind::tagged_receive, id, context);
  if (operation == nullptr) return Result::again();
  const Vector vector = as_vector(list, *operation);
  ucp_request_param_t parameters = parameters_of(vector, *operation);
  parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
  parameters.recv_info.tag_info = &operation->received;
  parameters.cb.recv = on_received;
  add_handle(parameters, list);
  return posted(library()->tag_recv_nbx(open_.worker.get(), const_cast<void*>(vector.buffer), vector.count,
                                        tag, limits_.tag_mask, &parameters),
                receives_, operation, "tagged receive from");
}

void UcxProvider::cancel(Context context) noexcept {
  Operation* operation = receives_.find(OperationKind::tagged_receive, context);
  if (operation == nullptr || operation->request == nullptr) return;
  operation->cancelled = true;
  library()->request_cancel(open_.worker.get(), operation->request);
}

Result UcxProvider::write(PeerId, std::span<const Segment>, std::span<const RemoteSegment>, Context,
                          unsigned) noexcept {
  return Result::failure(Code::not_supported, name_ + " has no RMA");
}

Result UcxProvider::read(PeerId, std::span<const Segment>, std::span<const RemoteSegment>, Context,
                         unsigned) noexcept {
  return Result::failure(Code::not_supported, name_ + " has no RMA");
}

}  // namespace lath::providers::ucx
