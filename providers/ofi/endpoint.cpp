#include "providers/ofi/endpoint.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <bit>

#include "providers/ofi/failure.hpp"

namespace lath::providers::ofi {
namespace {

// Bounds the memory of operation contexts where a device offers queues of tens of thousands.
constexpr std::size_t deepest_queue = 4096;

std::size_t list_length(std::size_t granted) {
  return std::clamp<std::size_t>(granted, 1, longest_list);
}

}  // namespace

Endpoint open_endpoint(Info info) {
  Endpoint endpoint;
  endpoint.info = std::move(info);
  fi_info& granted = *endpoint.info.get();
  // Asked for as they are used: a device sets aside what it grants, and the completion queue fits both.
  endpoint.transmit_depth = std::min(granted.tx_attr->size, deepest_queue);
  endpoint.receive_depth = std::min(granted.rx_attr->size, deepest_queue);
  granted.tx_attr->size = endpoint.transmit_depth;
  granted.rx_attr->size = endpoint.receive_depth;
  // Messages that arrive in order are a gain; order among writes would cost cxi its low-overhead packets.
  granted.tx_attr->msg_order &= FI_ORDER_SAS;
  granted.rx_attr->msg_order &= FI_ORDER_SAS;
  endpoint.fence = (granted.caps & FI_FENCE) != 0;
  check(library()->fabric(granted.fabric_attr, endpoint.fabric.receive(), nullptr), "fi_fabric");
  check(fi_domain(endpoint.fabric.get(), &granted, endpoint.domain.receive(), nullptr), "fi_domain");

  fi_av_attr address_attributes{};
  address_attributes.type = granted.domain_attr->av_type;
  check(fi_av_open(endpoint.domain.get(), &address_attributes, endpoint.addresses.receive(), nullptr),
        "fi_av_open");

  fi_cq_attr queue_attributes{};
  queue_attributes.format = FI_CQ_FORMAT_MSG;
  queue_attributes.size = endpoint.transmit_depth + endpoint.receive_depth;
  queue_attributes.wait_obj = FI_WAIT_NONE;
  check(fi_cq_open(endpoint.domain.get(), &queue_attributes, endpoint.queue.receive(), nullptr),
        "fi_cq_open");

  check(fi_endpoint(endpoint.domain.get(), &granted, endpoint.handle.receive(), nullptr), "fi_endpoint");
  check(fi_ep_bind(endpoint.handle.get(), &endpoint.addresses.get()->fid, 0),
        "fi_ep_bind of the address vector");
  check(fi_ep_bind(endpoint.handle.get(), &endpoint.queue.get()->fid, FI_TRANSMIT | FI_RECV),
        "fi_ep_bind of the completion queue");
  check(fi_enable(endpoint.handle.get()), "fi_enable");
  return endpoint;
}

std::vector<std::byte> endpoint_address(const Endpoint& endpoint) {
  std::vector<std::byte> bytes(256);
  std::size_t length = bytes.size();
  int status = fi_getname(&endpoint.handle.get()->fid, bytes.data(), &length);
  if (status == -FI_ETOOSMALL) {
    bytes.resize(length);
    status = fi_getname(&endpoint.handle.get()->fid, bytes.data(), &length);
  }
  check(status, "fi_getname");
  bytes.resize(length);
  return bytes;
}

std::string printable(const Endpoint& endpoint, const void* address) {
  std::array<char, 128> text{};
  std::size_t length = text.size();
  if (fi_av_straddr(endpoint.addresses.get(), address, text.data(), &length) == nullptr) return "a peer";
  text.back() = '\0';
  return text.data();
}

Limits granted(const Endpoint& endpoint) {
  const fi_info& info = *endpoint.info.get();
  Limits limits;
  limits.send_list = list_length(info.tx_attr->iov_limit);
  limits.receive_list = list_length(info.rx_attr->iov_limit);
  limits.rma = (info.caps & FI_RMA) != 0;
  limits.batched_writes = limits.rma;
  limits.rma_local_list = limits.send_list;
  limits.rma_remote_list = list_length(info.tx_attr->rma_iov_limit);
  limits.inject_bytes = std::min(info.tx_attr->inject_size, most_injected);
  limits.max_message = std::min(info.ep_attr->max_msg_size, std::size_t{1} << 40);
  limits.max_control = std::min(control_bytes, limits.max_message);
  // The highest bit set in the format tells how many bits of a tag travel.
  const std::uint64_t format = info.ep_attr->mem_tag_format;
  limits.tag_mask = format == 0 ? ~0ULL : ~0ULL >> std::countl_zero(format);
  limits.queue_depth = endpoint.transmit_depth;
  limits.local_registration = endpoint.needs(FI_MR_LOCAL);
  limits.ordered = (info.tx_attr->msg_order & info.rx_attr->msg_order & FI_ORDER_SAS) != 0;
  limits.manual_progress = info.domain_attr->data_progress != FI_PROGRESS_AUTO;
  return limits;
}

}  // namespace lath::providers::ofi
