#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <memory>

#include "tests/cxi_stand_in/information.hpp"
#include "tests/cxi_stand_in/objects.hpp"
#include "tests/cxi_stand_in/post.hpp"
#include "tests/cxi_stand_in/record.hpp"
#include "tests/cxi_stand_in/rules.hpp"

/// An endpoint's life: bound, enabled, closed after its regions.
namespace lath::cxi_stand_in {
namespace {

Endpoint& endpoint_of(fid* handle) {
  return object<Endpoint, fid_ep>(handle);
}

int bind_queue(Endpoint& endpoint, CompletionQueue& queue, std::uint64_t flags) {
  if ((flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION)) != 0)
    return refuse(FI_EINVAL, "a completion queue is bound with other flags");
  const bool selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
  const int status = fi_ep_bind(endpoint.carrier, &queue.carrier->fid, flags & (FI_TRANSMIT | FI_RECV));
  if (status != 0) return status;
  if ((flags & FI_TRANSMIT) != 0) {
    endpoint.transmit_queue = &queue;
    endpoint.selective_transmit = selective;
  }
  if ((flags & FI_RECV) != 0) {
    endpoint.receive_queue = &queue;
    endpoint.selective_receive = selective;
  }
  if (std::find(queue.endpoints.begin(), queue.endpoints.end(), &endpoint) == queue.endpoints.end())
    queue.endpoints.push_back(&endpoint);
  return 0;
}

int bind(fid* handle, fid* other, std::uint64_t flags) {
  Endpoint& endpoint = endpoint_of(handle);
  if (endpoint.enabled) return refuse(FI_EINVAL, "something is bound to an enabled endpoint");
  if (other->fclass == FI_CLASS_CQ)
    return bind_queue(endpoint, object<CompletionQueue, fid_cq>(other), flags);
  if (other->fclass != FI_CLASS_AV) return refuse(FI_EINVAL, "neither queue nor address vector is bound");
  auto& vector = object<AddressVector, fid_av>(other);
  const int status = fi_ep_bind(endpoint.carrier, &vector.carrier->fid, flags);
  if (status != 0) return status;
  endpoint.addresses = &vector;
  ++vector.users;
  return 0;
}

int control(fid* handle, int command, void*) {
  Endpoint& endpoint = endpoint_of(handle);
  if (command != FI_ENABLE) return -FI_EINVAL;
  if (endpoint.addresses == nullptr) return refuse(FI_ENOAV, "an endpoint without an address vector");
  if (endpoint.transmit_queue == nullptr || endpoint.receive_queue == nullptr)
    return refuse(FI_ENOCQ, "an endpoint without completion queues");
  record().transmit_size = endpoint.transmit_size;
  record().receive_size = endpoint.receive_size;
  record().completion_size = endpoint.transmit_queue->size;
  const int status = fi_enable(endpoint.carrier);
  endpoint.enabled = status == 0;
  return status;
}

int close(fid* handle) {
  Endpoint& endpoint = endpoint_of(handle);
  if (endpoint.regions != 0) return refuse(FI_EBUSY, "an endpoint is closed before the regions bound to it");
  const int status = fi_close(&endpoint.carrier->fid);
  if (status != 0) return status;
  for (CompletionQueue* queue : {endpoint.transmit_queue, endpoint.receive_queue})
    if (queue != nullptr) std::erase(queue->endpoints, &endpoint);
  if (endpoint.addresses != nullptr) --endpoint.addresses->users;
  --endpoint.domain->users;
  delete &endpoint;
  return 0;
}

int name(fid* handle, void* address, std::size_t* length) {
  return fi_getname(&endpoint_of(handle).carrier->fid, address, length);
}

int get_option(fid*, int, int, void*, std::size_t*) {
  return -FI_ENOPROTOOPT;
}

int set_option(fid*, int, int, const void*, std::size_t) {
  return -FI_ENOPROTOOPT;
}

fi_ops object_calls = calls_of_object(close, bind, control);

fi_ops_ep endpoint_calls() {
  fi_ops_ep calls{};
  calls.size = sizeof calls;
  calls.cancel = cancel;
  calls.getopt = get_option;
  calls.setopt = set_option;
  return calls;
}
fi_ops_ep calls = endpoint_calls();

fi_ops_cm connection_calls() {
  fi_ops_cm calls{};
  calls.size = sizeof calls;
  calls.getname = name;
  return calls;
}
fi_ops_cm name_calls = connection_calls();

}  // namespace

int open_endpoint(fid_domain* handle, fi_info* info, fid_ep** result, void* context) {
  auto& domain = *static_cast<Domain*>(handle);
  if (info->tx_attr->size > deepest_transmit || info->rx_attr->size > deepest_receive)
    return refuse(FI_EINVAL, "queues beyond the limits are asked for");
  auto endpoint = std::make_unique<Endpoint>();
  const int status = fi_endpoint(domain.carrier, carrier_information(), &endpoint->carrier, nullptr);
  if (status != 0) return status;
  endpoint->fid = {.fclass = FI_CLASS_EP, .context = context, .ops = &object_calls};
  endpoint->ops = &calls;
  endpoint->cm = &name_calls;
  endpoint->msg = message_calls();
  endpoint->tagged = tagged_calls();
  endpoint->rma = rma_calls();
  endpoint->domain = &domain;
  endpoint->fence = (info->caps & FI_FENCE) != 0;
  endpoint->transmit_size = info->tx_attr->size;
  endpoint->receive_size = info->rx_attr->size;
  record().ordered_writes = (info->tx_attr->msg_order & FI_ORDER_RMA_WAW) != 0 ? 1 : 0;
  ++domain.users;
  *result = endpoint.release();
  return 0;
}

}  // namespace lath::cxi_stand_in
