#include "providers/ucx/provider.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "providers/peer_process.hpp"
#include "providers/ucx/failure.hpp"
#include "providers/ucx/memory.hpp"

namespace lath::providers::ucx {
namespace {

constexpr std::chrono::milliseconds time_to_close{500};

std::vector<std::byte> worker_address(ucp_worker_h worker) {
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  check(library()->worker_get_address(worker, &address, &length), "ucp_worker_get_address");
  const auto* bytes = reinterpret_cast<const std::byte*>(address);
  std::vector<std::byte> copy(bytes, bytes + length);
  library()->worker_release_address(worker, address);
  return copy;
}

Limits granted() {
  Limits limits;
  limits.send_list = limits.receive_list = longest_list;
  // A message that waits inside UCX, for a connection or for room, leaves only while its sender polls; a
  // caller who injected it would take it for sent.
  limits.inject_bytes = 0;
  limits.max_message = std::size_t{1} << 40;
  limits.max_control = control_bytes;
  limits.queue_depth = queue_depth;
  // Lanes of one endpoint may overtake each other.
  limits.ordered = false;
  limits.manual_progress = true;
  return limits;
}

}  // namespace

UcxProvider::UcxProvider(std::string name, OpenWorker open, bool shared_memory)
    : name_(std::move(name)),
      open_(std::move(open)),
      shared_memory_(shared_memory),
      limits_(granted()),
      transmits_(queue_depth),
      receives_(queue_depth) {
  const EndpointAddress own{.provider = name_,
                            .node = node_identity(),
                            .process = getpid(),
                            .endpoint = worker_address(open_.worker.get())};
  address_ = encode(own);
  open_endpoint_ = std::make_unique<OpenEndpoint>(own);
  for (OperationPool* pool : {&transmits_, &receives_})
    pool->for_each_slot([this](Operation& operation) { operation.owner = this; });
  set_message_handler(message_id, on_message);
  set_message_handler(greeting_id, on_greeting);
}

UcxProvider::~UcxProvider() {
  open_endpoint_.reset();
  receives_.for_each_in_use([this](Operation& operation) {
    if (operation.request != nullptr) library()->request_cancel(open_.worker.get(), operation.request);
  });
  for (auto& peer : peers_) {
    look_at(*peer);
    // Where no connection stands there is nothing to wait for.
    if (peer->endpoint != nullptr) close(*peer, !peer->death.empty() || !peer->greeted);
  }
  const Clock::time_point end = Clock::now() + time_to_close;
  while (busy() && Clock::now() < end) library()->worker_progress(open_.worker.get());
  release_requests();
}

bool UcxProvider::busy() noexcept {
  bool any =
      std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->closing != nullptr; });
  for (OperationPool* pool : {&transmits_, &receives_})
    pool->for_each_in_use([&](const Operation& operation) { any = any || operation.request != nullptr; });
  return any;
}

// Those that never ended: UCX insists on it before the worker goes.
void UcxProvider::release_requests() noexcept {
  for (auto& peer : peers_)
    if (peer->closing != nullptr) library()->request_free(peer->closing);
  for (OperationPool* pool : {&transmits_, &receives_})
    pool->for_each_in_use([](Operation& operation) {
      if (operation.request != nullptr) library()->request_free(operation.request);
    });
}

void UcxProvider::set_message_handler(unsigned id, ucp_am_recv_callback_t handler) {
  ucp_am_handler_param_t parameters{};
  parameters.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  parameters.id = id;
  parameters.cb = handler;
  parameters.arg = this;
  check(library()->worker_set_am_recv_handler(open_.worker.get(), &parameters),
        "ucp_worker_set_am_recv_handler");
}

PeerId UcxProvider::connect(std::span<const std::byte> bytes) {
  const EndpointAddress address = decode(bytes);
  if (address.provider != name_)
    throw Error(Code::invalid_argument,
                "the address is one of provider " + address.provider + ", this worker uses " + name_);
  auto peer = std::make_unique<Peer>();
  const bool here = address.node != 0 && address.node == node_identity();
  peer->closed = closed_flag(address);
  if (here && address.process != getpid()) peer->process = address.process;
  peer->text = "process " + std::to_string(address.process) + (here ? " of this node" : " of another node");

  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                          UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.endpoint.data());
  // Shared memory knows no peers' failures in UCX; over anything else one without a handler would end this
  // process.
  peer->forced = !(here && shared_memory_);
  parameters.err_mode = peer->forced ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  parameters.err_handler = {.cb = on_endpoint_failed, .arg = peer.get()};
  check(library()->ep_create(open_.worker.get(), &parameters, &peer->endpoint), "ucp_ep_create to a peer");
  peers_.push_back(std::move(peer));
  return static_cast<PeerId>(peers_.size() - 1);
}

ucs_status_t UcxProvider::on_greeting(void*, const void*, size_t, void*, size_t, const ucp_am_recv_param_t*) {
  return UCS_OK;
}

void UcxProvider::on_endpoint_failed(void* peer, ucp_ep_h, ucs_status_t status) {
  static_cast<Peer*>(peer)->failure = status;
}

void UcxProvider::close(Peer& peer, bool force) noexcept {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = force && peer.forced ? UCP_EP_CLOSE_FLAG_FORCE : 0;
  parameters.cb.send = on_closed;
  parameters.user_data = &peer;
  void* request = library()->ep_close_nbx(std::exchange(peer.endpoint, nullptr), &parameters);
  if (UCS_PTR_IS_PTR(request)) peer.closing = request;
  if (UCS_PTR_IS_ERR(request))
    log::debug("{}: closing the endpoint of {}: {}", name_, peer.text,
               library()->status_string(UCS_PTR_RAW_STATUS(request)));
}

void UcxProvider::on_closed(void* request, ucs_status_t, void* peer) {
  static_cast<Peer*>(peer)->closing = nullptr;
  library()->request_free(request);
}

void UcxProvider::disconnect(PeerId id) noexcept {
  if (id >= peers_.size() || peers_[id]->endpoint == nullptr) return;
  close(*peers_[id], false);
}

std::unique_ptr<Registration> UcxProvider::register_memory(void* address, std::size_t length, MemoryKind kind,
                                                           bool writable, bool remote,
                                                           std::unique_ptr<Error>& why) noexcept {
  try {
    if (address == nullptr || length == 0)
      throw Error(Code::invalid_argument, "an empty or null range cannot be registered", name_);
    if (remote) throw Error(Code::not_supported, name_ + " has no RMA");
    if (kind == MemoryKind::device && !limits_.device_memory)
      throw Error(Code::not_supported, name_ + " takes no device memory: " + limits_.device_memory_reason);
    auto mapped = std::make_unique<MappedMemory>(open_.context.get(), address, length, kind, writable);
    ++counters_.registrations;
    return mapped;
  } catch (const Error& error) {
    why = std::make_unique<Error>(error);
  } catch (const std::exception& problem) {
    why = std::make_unique<Error>(Code::no_memory, problem.what(), name_);
  }
  return nullptr;
}

std::size_t UcxProvider::memory_bytes() const noexcept {
  return transmits_.memory_bytes() + receives_.memory_bytes();
}

}  // namespace lath::providers::ucx
