#include "providers/verbs/queue_pair.hpp"

#include <algorithm>
#include <random>

#include "providers/verbs/failure.hpp"

namespace lath::providers::verbs {
namespace {

constexpr std::uint32_t sequence_mask = 0xffffff;
// A lost packet is sent again after 4.096 us * 2^16, about 0.27 s, six times: then the peer is dead. Seven
// would be without end for soft RoCE.
constexpr std::uint8_t answer_timeout = 16;
constexpr std::uint8_t most_retries = 6;
// A peer without a posted receive is busy, not dead: asked again after 0.64 ms without end.
constexpr std::uint8_t retry_without_end = 7;
constexpr std::uint8_t not_ready_timer = 12;

QueueCaps within(QueueCaps wanted, const ibv_device_attr& granted) {
  const auto depth = static_cast<std::uint32_t>(granted.max_qp_wr);
  const auto list = static_cast<std::uint32_t>(granted.max_sge);
  wanted.send_depth = std::min(wanted.send_depth, depth);
  wanted.receive_depth = std::min(wanted.receive_depth, depth);
  wanted.send_list = std::min(wanted.send_list, list);
  wanted.receive_list = std::min(wanted.receive_list, list);
  return wanted;
}

bool halve(std::uint32_t& value, std::uint32_t least) {
  if (value <= least) return false;
  value = std::max(value / 2, least);
  return true;
}

}  // namespace

std::uint32_t random_sequence() {
  static thread_local std::mt19937 generator{std::random_device{}()};
  return static_cast<std::uint32_t>(generator()) & sequence_mask;
}

bool negotiate(QueueCaps& caps, const std::function<bool(QueueCaps&)>& create) {
  constexpr std::uint32_t least_depth = 16;
  for (;;) {
    if (create(caps)) return true;
    if (caps.inline_bytes > 0) {
      caps.inline_bytes = caps.inline_bytes >= 64 ? caps.inline_bytes / 2 : 0;
      continue;
    }
    bool shorter = halve(caps.send_list, 1);
    if (caps.receive_list > 0 && halve(caps.receive_list, 1)) shorter = true;
    if (shorter) continue;
    bool shallower = halve(caps.send_depth, least_depth);
    if (caps.receive_depth > 0 && halve(caps.receive_depth, least_depth)) shallower = true;
    if (!shallower) return false;
  }
}

QueuePair::QueuePair(const Device& device, ibv_cq* completions, ibv_srq* shared, QueueCaps wanted)
    : caps_(within(wanted, device.granted)) {
  ibv_qp_init_attr attributes{};
  const auto create = [&](QueueCaps& caps) {
    attributes = {};
    attributes.send_cq = attributes.recv_cq = completions;
    attributes.srq = shared;
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {caps.send_depth, caps.receive_depth, caps.send_list, caps.receive_list,
                      caps.inline_bytes};
    handle_.reset(library()->create_qp(device.domain.get(), &attributes));
    return static_cast<bool>(handle_);
  };
  if (!negotiate(caps_, create)) throw failure(errno, "ibv_create_qp");
  caps_ = {attributes.cap.max_send_wr, attributes.cap.max_recv_wr, attributes.cap.max_send_sge,
           attributes.cap.max_recv_sge, attributes.cap.max_inline_data};
  name_ = {handle_.get()->qp_num, random_sequence()};

  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = device.port;
  state.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  check(library()->modify_qp(handle_.get(), &state,
                             IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        "ibv_modify_qp to INIT");
}

void QueuePair::connect(const Route& route, const QueueName& peer) {
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_RTR;
  state.path_mtu = route.mtu;
  state.ah_attr = route.path;
  state.dest_qp_num = peer.number;
  state.rq_psn = peer.first_packet & sequence_mask;
  state.max_dest_rd_atomic = route.reads_in;
  state.min_rnr_timer = not_ready_timer;
  check(library()->modify_qp(handle_.get(), &state,
                             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "ibv_modify_qp to RTR");
  state = {};
  state.qp_state = IBV_QPS_RTS;
  state.sq_psn = name_.first_packet;
  state.timeout = answer_timeout;
  state.retry_cnt = most_retries;
  state.rnr_retry = retry_without_end;
  state.max_rd_atomic = route.reads_out;
  check(library()->modify_qp(handle_.get(), &state,
                             IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
        "ibv_modify_qp to RTS");
}

void QueuePair::break_off() noexcept {
  if (!handle_) return;
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_ERR;
  library()->modify_qp(handle_.get(), &state, IBV_QP_STATE);
}

}  // namespace lath::providers::verbs
