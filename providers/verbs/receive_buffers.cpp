#include "providers/verbs/receive_buffers.hpp"

#include <algorithm>

#include "providers/verbs/failure.hpp"

namespace lath::providers::verbs {

ReceiveBuffers::ReceiveBuffers(const Device& device, std::size_t count, std::size_t bytes, std::uint64_t id)
    : count_(std::min(count, static_cast<std::size_t>(device.granted.max_srq_wr))),
      bytes_(bytes),
      id_(id),
      memory_(count_ * bytes),
      registration_(std::make_unique<RegisteredMemory>(device, memory_.data(), memory_.size(),
                                                       MemoryKind::host, true, false)) {
  late_.reserve(count_);
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = static_cast<std::uint32_t>(count_);
  attributes.attr.max_sge = 1;
  queue_.reset(check_object(library()->create_srq(device.domain.get(), &attributes), "ibv_create_srq"));
  for (std::size_t number = 0; number < count_; ++number) post(number);
  if (late_.size() == count_) throw Error(Code::provider, device.name + " takes no receive buffer");
}

void ReceiveBuffers::post(std::size_t number) noexcept {
  ibv_sge place{reinterpret_cast<std::uint64_t>(memory_.data() + number * bytes_),
                static_cast<std::uint32_t>(bytes_), registration_->local_key()};
  ibv_recv_wr request{};
  request.wr_id = id_ + number;
  request.sg_list = &place;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  if (ibv_post_srq_recv(queue_.get(), &request, &refused) != 0) late_.push_back(number);
}

void ReceiveBuffers::post_late() noexcept {
  for (std::size_t left = late_.size(); left > 0; --left) {
    const std::size_t number = late_.back();
    late_.pop_back();
    post(number);
    if (!late_.empty() && late_.back() == number) return;
  }
}

}  // namespace lath::providers::verbs
