#include "providers/verbs/datagrams.hpp"

#include <cstring>
#include <random>

#include "providers/verbs/failure.hpp"

namespace lath::providers::verbs {
namespace {

constexpr std::size_t receives = 128, sends = 64;
// Where the device puts the route header of a received datagram.
constexpr std::size_t header_bytes = 40;
constexpr std::size_t slot_bytes = 192;
static_assert(slot_bytes >= header_bytes + handshake_bytes);
constexpr std::uint64_t send_id = 1ULL << 32;

void make_ready(ibv_qp* handle, std::uint8_t port, std::uint32_t key) {
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = port;
  state.qkey = key;
  check(library()->modify_qp(handle, &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
        "ibv_modify_qp of the datagram queue pair to INIT");
  state = {};
  state.qp_state = IBV_QPS_RTR;
  check(library()->modify_qp(handle, &state, IBV_QP_STATE),
        "ibv_modify_qp of the datagram queue pair to RTR");
  state.qp_state = IBV_QPS_RTS;
  state.sq_psn = random_sequence();
  check(library()->modify_qp(handle, &state, IBV_QP_STATE | IBV_QP_SQ_PSN),
        "ibv_modify_qp of the datagram queue pair to RTS");
}

}  // namespace

Datagrams::Datagrams(const Device& device)
    // The highest bit marks keys that the kernel alone may use.
    : key_(static_cast<std::uint32_t>(std::random_device{}()) & 0x7fffffff),
      memory_((receives + sends) * slot_bytes),
      registration_(std::make_unique<RegisteredMemory>(device, memory_.data(), memory_.size(),
                                                       MemoryKind::host, true, false)) {
  queue_.reset(check_object(library()->create_cq(device.context.get(), receives + sends, nullptr, nullptr, 0),
                            "ibv_create_cq"));
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = queue_.get();
  attributes.qp_type = IBV_QPT_UD;
  attributes.cap = {sends, receives, 1, 1, 0};
  handle_.reset(
      check_object(library()->create_qp(device.domain.get(), &attributes), "ibv_create_qp for datagrams"));
  make_ready(handle_.get(), device.port, key_);
  for (std::size_t buffer = 0; buffer < receives; ++buffer) post(buffer);
}

void Datagrams::post(std::size_t buffer) noexcept {
  ibv_sge place{reinterpret_cast<std::uint64_t>(memory_.data() + buffer * slot_bytes), slot_bytes,
                registration_->local_key()};
  ibv_recv_wr request{};
  request.wr_id = buffer;
  request.sg_list = &place;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  (void)ibv_post_recv(handle_.get(), &request, &refused);
}

void Datagrams::send(ibv_ah* route, const Address& to, const Handshake& handshake) noexcept {
  // Where all slots are under way, this one is lost like others: it is sent again.
  if (sending_ == sends) return;
  std::byte* slot = memory_.data() + (receives + next_++ % sends) * slot_bytes;
  const HandshakeBytes bytes = encode(handshake);
  std::memcpy(slot, bytes.data(), bytes.size());
  ibv_sge place{reinterpret_cast<std::uint64_t>(slot), handshake_bytes, registration_->local_key()};
  ibv_send_wr request{};
  request.wr_id = send_id;
  request.sg_list = &place;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud = {route, to.datagrams, to.key};
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(handle_.get(), &request, &refused) == 0) ++sending_;
}

bool Datagrams::poll(const std::function<void(const Handshake&)>& receive) {
  std::array<ibv_wc, 8> completions;
  const int got = ibv_poll_cq(queue_.get(), static_cast<int>(completions.size()), completions.data());
  for (int i = 0; i < got; ++i) {
    const ibv_wc& completion = completions[static_cast<std::size_t>(i)];
    if (completion.wr_id == send_id) {
      --sending_;
      continue;
    }
    const std::size_t buffer = completion.wr_id;
    if (completion.status == IBV_WC_SUCCESS && completion.byte_len >= header_bytes) {
      const std::span<const std::byte> bytes(memory_.data() + buffer * slot_bytes + header_bytes,
                                             completion.byte_len - header_bytes);
      if (const auto handshake = decode_handshake(bytes)) receive(*handshake);
    }
    post(buffer);
  }
  return got > 0;
}

}  // namespace lath::providers::verbs
