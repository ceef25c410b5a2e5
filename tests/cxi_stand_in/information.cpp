#include "tests/cxi_stand_in/information.hpp"

#include <rdma/fi_errno.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "tests/cxi_stand_in/rules.hpp"
#include "tests/cxi_stand_in/variant.hpp"

namespace lath::cxi_stand_in {
namespace {

constexpr std::uint64_t primary =
    FI_MSG | FI_TAGGED | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::uint64_t secondary = FI_LOCAL_COMM | FI_REMOTE_COMM | FI_FENCE;
constexpr std::uint64_t order = FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_RMA_WAW | FI_ORDER_RMA_RAR;

std::uint64_t capabilities(const fi_info* hints) {
  const std::uint64_t device = variant().device_memory ? FI_HMEM : 0;
  // As in cxi, device memory is granted only where it was asked for, since asking costs.
  if (hints == nullptr || hints->caps == 0) return primary | secondary | device;
  std::uint64_t granted = secondary | FI_SEND | FI_RECV | (hints->caps & (FI_MSG | FI_TAGGED));
  if ((hints->caps & FI_RMA) != 0) granted |= primary & ~(FI_MSG | FI_TAGGED);
  return granted | (hints->caps & device);
}

void describe_operations(fi_info& info, std::uint64_t granted) {
  info.caps = granted;
  info.addr_format = FI_ADDR_CXI;
  fi_tx_attr& transmit = *info.tx_attr;
  transmit.caps = granted & ~(FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_LOCAL_COMM | FI_REMOTE_COMM);
  transmit.msg_order = order;
  transmit.inject_size = most_injected;
  transmit.size = deepest_transmit;
  transmit.iov_limit = transmit.rma_iov_limit = 1;
  fi_rx_attr& receive = *info.rx_attr;
  receive.caps = granted & ~(FI_SEND | FI_READ | FI_WRITE | FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM);
  receive.msg_order = order;
  receive.size = deepest_receive;
  receive.iov_limit = 1;
  fi_ep_attr& endpoint = *info.ep_attr;
  endpoint.type = FI_EP_RDM;
  endpoint.protocol = FI_PROTO_CXI;
  endpoint.protocol_version = 1;
  endpoint.max_msg_size = longest_message;
  endpoint.max_order_waw_size = SIZE_MAX;
  endpoint.mem_tag_format = 0xaaaaaaaaaaaaaaaaULL >> (64 - tag_bits);
  endpoint.tx_ctx_cnt = endpoint.rx_ctx_cnt = 1;
}

void describe_domain(fi_info& info, bool provider_keys) {
  fi_domain_attr& domain = *info.domain_attr;
  domain.name = strdup("cxi0");
  domain.threading = FI_THREAD_SAFE;
  domain.control_progress = domain.data_progress = FI_PROGRESS_MANUAL;
  domain.resource_mgmt = FI_RM_ENABLED;
  domain.av_type = FI_AV_UNSPEC;
  // Where peers reach no memory, nothing is registered.
  if ((info.caps & FI_RMA) != 0)
    domain.mr_mode =
        FI_MR_ENDPOINT | (provider_keys ? FI_MR_PROV_KEY : 0) | (variant().allocated ? FI_MR_ALLOCATED : 0);
  domain.mr_key_size = provider_keys ? sizeof(std::uint64_t) : client_key_bytes;
  domain.cq_data_size = 8;
  domain.cq_cnt = 32;
  domain.ep_cnt = 128;
  domain.tx_ctx_cnt = domain.rx_ctx_cnt = domain.max_ep_tx_ctx = domain.max_ep_rx_ctx = 1;
  domain.mr_iov_limit = 1;
  domain.mr_cnt = 100;
  domain.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
  info.fabric_attr->name = strdup("cxi");
  info.fabric_attr->prov_version = FI_VERSION(0, 1);
}

fi_info* offer(const fi_info* hints, bool provider_keys) {
  fi_info* info = fi_allocinfo();
  if (info == nullptr) return nullptr;
  describe_operations(*info, capabilities(hints));
  describe_domain(*info, provider_keys);
  // The address is the carrier's: peers compare its length.
  const fi_info& carrier = *carrier_information();
  info->src_addrlen = carrier.src_addrlen;
  info->src_addr = std::malloc(carrier.src_addrlen);
  if (info->src_addr != nullptr) std::memcpy(info->src_addr, carrier.src_addr, carrier.src_addrlen);
  return info;
}

bool names(const char* wanted, const char* name) {
  return wanted == nullptr || std::strcmp(wanted, name) == 0;
}

bool fits_attributes(const fi_info& info, const fi_info& hints) {
  if (const fi_tx_attr* transmit = hints.tx_attr)
    if (transmit->size > deepest_transmit || transmit->inject_size > most_injected ||
        transmit->iov_limit > 1 || transmit->rma_iov_limit > 1 || (transmit->msg_order & ~order) != 0)
      return false;
  if (const fi_rx_attr* receive = hints.rx_attr)
    if (receive->size > deepest_receive || receive->iov_limit > 1 || (receive->msg_order & ~order) != 0)
      return false;
  if (const fi_ep_attr* endpoint = hints.ep_attr)
    if ((endpoint->type != FI_EP_UNSPEC && endpoint->type != FI_EP_RDM) ||
        (endpoint->protocol != FI_PROTO_UNSPEC && endpoint->protocol != FI_PROTO_CXI) ||
        endpoint->max_msg_size > longest_message)
      return false;
  const int needed = info.domain_attr->mr_mode;
  if (const fi_domain_attr* domain = hints.domain_attr)
    if ((needed & ~domain->mr_mode) != 0 || domain->data_progress == FI_PROGRESS_AUTO ||
        domain->control_progress == FI_PROGRESS_AUTO || !names(domain->name, info.domain_attr->name))
      return false;
  return hints.fabric_attr == nullptr || names(hints.fabric_attr->prov_name, "cxi");
}

bool fits(const fi_info& info, const fi_info* hints) {
  if (hints == nullptr) return true;
  return (hints->caps & ~info.caps) == 0 && fits_attributes(info, *hints);
}

// What was asked for is granted, as libfabric's common code does it.
void adopt(fi_info& info, const fi_info* hints) {
  if (hints == nullptr) return;
  if (hints->tx_attr != nullptr && hints->tx_attr->size != 0) info.tx_attr->size = hints->tx_attr->size;
  if (hints->rx_attr != nullptr && hints->rx_attr->size != 0) info.rx_attr->size = hints->rx_attr->size;
  if (hints->domain_attr != nullptr && hints->domain_attr->threading != FI_THREAD_UNSPEC)
    info.domain_attr->threading = hints->domain_attr->threading;
}

fi_info* find_carrier() {
  fi_info* hints = fi_allocinfo();
  if (hints == nullptr) return nullptr;
  hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->addr_format = FI_SOCKADDR_IN;
  hints->ep_attr->type = FI_EP_RDM;
  // Offsets and keys of our own: those of cxi can be made of them.
  hints->domain_attr->mr_mode = 0;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
  fi_info* found = nullptr;
  const int status = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), "127.0.0.1", nullptr,
                                FI_SOURCE, hints, &found);
  fi_freeinfo(hints);
  return status == 0 ? found : nullptr;
}

thread_local bool inside = false;

}  // namespace

fi_info* carrier_information() {
  static fi_info* const found = find_carrier();
  return found;
}

int information(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info* hints,
                fi_info** result) {
  *result = nullptr;
  // libfabric asks every provider, this one too, when the carrier is looked for.
  if (inside) return -FI_ENODATA;
  inside = true;
  const bool carried = carrier_information() != nullptr;
  inside = false;
  if (!carried) return -FI_ENODATA;
  fi_info** end = result;
  for (const bool provider_keys : {true, false}) {
    if (!(provider_keys ? variant().provider_keys : variant().client_keys)) continue;
    fi_info* info = offer(hints, provider_keys);
    if (info == nullptr) continue;
    if (!fits(*info, hints)) {
      fi_freeinfo(info);
      continue;
    }
    adopt(*info, hints);
    *end = info;
    end = &info->next;
  }
  return *result != nullptr ? 0 : -FI_ENODATA;
}

}  // namespace lath::cxi_stand_in
