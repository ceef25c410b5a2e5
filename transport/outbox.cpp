#include "transport/outbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "transport/engine.hpp"
#include "transport/peer.hpp"

namespace lath::transport {
namespace {

constexpr std::size_t frame_count = 64;
constexpr int registration_attempts = 3;

std::unique_ptr<providers::Registration> register_slab(providers::Provider& provider, std::byte* slab,
                                                       std::size_t bytes) {
  if (!provider.limits().local_registration) return nullptr;
  std::unique_ptr<Error> why;
  for (int attempt = 0; attempt < registration_attempts; ++attempt)
    if (auto registration =
            provider.register_memory(slab, bytes, providers::MemoryKind::host, true, false, why))
      return registration;
  throw Error(Code::no_memory, fmt::format("{} does not register {} bytes for a worker's messages: {}",
                                           provider.name(), bytes, why->what()));
}

}  // namespace

void Frame::completed(std::size_t, const Error* error) {
  // The stream of messages to the peer has a gap that nothing can fill.
  if (error != nullptr) engine->lose(*peer, *error);
  engine->outbox().give_back(*this);
}

Outbox::Outbox(Engine& engine, providers::Provider& provider, std::uint64_t worker)
    : engine_(engine), provider_(provider), worker_(worker) {
  const std::size_t largest = sizeof(wire::OneSided) + std::max(engine.eager_bytes(), wire::largest_text);
  frame_bytes_ = std::min((largest + 63) / 64 * 64, provider.limits().max_control);
  if (frame_bytes_ < sizeof(wire::OneSided) + wire::largest_text)
    throw Error(Code::not_supported, fmt::format("{} takes messages of {} bytes only", provider.name(),
                                                 provider.limits().max_control));
  slab_ = std::make_unique<std::byte[]>(frame_count * frame_bytes_);
  registration_ = register_slab(provider, slab_.get(), frame_count * frame_bytes_);
  frames_ = std::make_unique<Frame[]>(frame_count);
  for (std::size_t i = frame_count; i-- > 0;) {
    frames_[i].engine = &engine;
    frames_[i].data = slab_.get() + i * frame_bytes_;
    give_back(frames_[i]);
  }
}

Frame* Outbox::take() noexcept {
  Frame* frame = free_;
  if (frame != nullptr) free_ = frame->next;
  return frame;
}

void Outbox::give_back(Frame& frame) noexcept {
  frame.next = free_;
  free_ = &frame;
}

Result Outbox::transmit(Peer& peer, Frame& frame, std::size_t bytes) {
  const std::uint64_t stamp[2] = {worker_, peer.send_sequence};
  static_assert(offsetof(wire::Header, sequence) == offsetof(wire::Header, worker) + sizeof stamp[0]);
  std::memcpy(frame.data + offsetof(wire::Header, worker), stamp, sizeof stamp);
  const bool inject = bytes <= provider_.limits().inject_bytes;
  const providers::Segment segment{frame.data, bytes, registration_.get()};
  frame.peer = &peer;
  Operation* operation = inject ? nullptr : &frame;
  Result result = provider_.send(peer.id, std::span(&segment, 1), operation, 0);
  if (!result.is_done()) return result;
  ++peer.send_sequence;
  if (inject)
    give_back(frame);
  else
    engine_.operation_started();
  return result;
}

void Outbox::enqueue(Peer& peer, Outgoing& item) {
  item.next_outgoing = nullptr;
  (peer.backlog_last != nullptr ? peer.backlog_last->next_outgoing : peer.backlog_first) = &item;
  peer.backlog_last = &item;
  if (peer.in_backlog_list) return;
  peer.in_backlog_list = true;
  backlogged_.push_back(&peer);
}

void Outbox::post_bytes(Peer& peer, std::span<const std::byte> fixed, std::span<const std::byte> payload) {
  if (peer.dead != nullptr) return;
  const std::size_t bytes = fixed.size() + payload.size();
  if (Frame* frame = peer.backlog_first == nullptr ? take() : nullptr) {
    std::memcpy(frame->data, fixed.data(), fixed.size());
    if (!payload.empty()) std::memcpy(frame->data + fixed.size(), payload.data(), payload.size());
    Result result = transmit(peer, *frame, bytes);
    if (result.is_done()) return;
    give_back(*frame);
    if (result.is_error()) return engine_.lose(peer, result.error());
  }
  auto control = std::make_unique<Control>();
  control->bytes.reserve(bytes);
  control->bytes.insert(control->bytes.end(), fixed.begin(), fixed.end());
  control->bytes.insert(control->bytes.end(), payload.begin(), payload.end());
  enqueue(peer, *control.release());
}

Result Outbox::start(Request& request) {
  Peer& peer = *request.peer;
  if (peer.backlog_first == nullptr) {
    Result result = engine_.begin_send(request);
    if (!result.is_again()) return result;
  }
  enqueue(peer, request);
  return Result::done();
}

Result Outbox::offer(Peer& peer, Outgoing& item) {
  if (item.is_request) {
    auto& request = static_cast<Request&>(item);
    Result result = engine_.begin_send(request);
    if (!result.is_error()) return result;
    engine_.fail(request, result.error());
    return Result::done();
  }
  auto& control = static_cast<Control&>(item);
  Frame* frame = take();
  if (frame == nullptr) return Result::again();
  std::memcpy(frame->data, control.bytes.data(), control.bytes.size());
  Result result = transmit(peer, *frame, control.bytes.size());
  if (result.is_done()) {
    delete &control;
    return result;
  }
  give_back(*frame);
  return result;
}

bool Outbox::flush(Peer& peer) {
  while (peer.backlog_first != nullptr && peer.dead == nullptr) {
    Outgoing& item = *peer.backlog_first;
    // Unlinked first: a request that begins may complete, and its links be used anew.
    peer.backlog_first = item.next_outgoing;
    if (peer.backlog_first == nullptr) peer.backlog_last = nullptr;
    Result result = offer(peer, item);
    if (result.is_done()) continue;
    item.next_outgoing = peer.backlog_first;
    peer.backlog_first = &item;
    if (peer.backlog_last == nullptr) peer.backlog_last = &item;
    if (result.is_again()) return false;
    engine_.lose(peer, result.error());
  }
  return peer.backlog_first == nullptr;
}

void Outbox::flush() {
  std::erase_if(backlogged_, [this](Peer* peer) {
    if (!flush(*peer) && peer->dead == nullptr) return false;
    peer->in_backlog_list = false;
    return true;
  });
}

Outgoing* Outbox::drop_backlog(Peer& peer) noexcept {
  Outgoing* requests = nullptr;
  for (Outgoing* item = peer.backlog_first; item != nullptr;) {
    Outgoing* next = item->next_outgoing;
    if (item->is_request) {
      item->next_outgoing = requests;
      requests = item;
    } else {
      delete static_cast<Control*>(item);
    }
    item = next;
  }
  peer.backlog_first = peer.backlog_last = nullptr;
  return requests;
}

std::size_t Outbox::memory_bytes() const noexcept {
  return frame_count * (frame_bytes_ + sizeof(Frame));
}

}  // namespace lath::transport
