#include "transport/request.hpp"

#include "transport/delivery.hpp"
#include "transport/one_sided.hpp"
#include "transport/rendezvous.hpp"

namespace lath::transport {

Data Data::of(void* address, const Layout& layout) {
  const StridedNest* nest = layout.nest();
  if (layout.bytes() == 0) return {address, 0, {}};
  if (layout.kind() == LayoutKind::contiguous && nest != nullptr) {
    // Integer arithmetic: an absolute layout starts from a null address.
    const auto at = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(nest->offset);
    return {reinterpret_cast<void*>(at), layout.bytes(), {}};
  }
  return {address, layout.bytes(), layout};
}

Request::Request() {
  is_request = true;
}
Request::~Request() = default;

static_assert(sizeof(Request) <= 256, "what an outstanding message costs is documented");

Request& RequestPool::take() {
  if (free_ == nullptr) {
    blocks_.push_back(std::make_unique<Request[]>(block_requests));
    const std::size_t first = (blocks_.size() - 1) * block_requests;
    for (std::size_t i = block_requests; i-- > 0;) {
      Request& request = blocks_.back()[i];
      request.index = static_cast<std::uint32_t>(first + i);
      request.engine = &engine_;
      request.next_outgoing = free_;
      free_ = &request;
    }
  }
  auto& request = static_cast<Request&>(*free_);
  free_ = request.next_outgoing;
  request.next_outgoing = nullptr;
  request.state = Request::State::inactive;
  return request;
}

void RequestPool::give_back(Request& request) noexcept {
  request.state = Request::State::free;
  if (++request.generation == 0) request.generation = 1;
  request.persistent = request.detached = request.synchronous = false;
  request.posted = request.device = request.mixed = request.moved = request.announced = false;
  request.peer = nullptr;
  request.data.layout.reset();
  request.error.reset();
  request.sending.reset();
  request.receiving.reset();
  request.delivery.reset();
  request.one_sided.reset();
  request.next_outgoing = free_;
  free_ = &request;
}

Request* RequestPool::find(std::uint64_t id) noexcept {
  const std::size_t index = id & 0xFFFFFFFFU;
  if (index >= blocks_.size() * block_requests) return nullptr;
  Request& request = blocks_[index / block_requests][index % block_requests];
  return request.state != Request::State::free && request.generation == id >> 32 ? &request : nullptr;
}

}  // namespace lath::transport
