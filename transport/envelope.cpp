#include "transport/envelope.hpp"

#include <bit>
#include <cstring>

namespace lath::transport {
namespace {

constexpr std::size_t smallest_payload = 64;

std::size_t size_class(std::size_t bytes) noexcept {
  const std::size_t rounded = std::bit_ceil(bytes < smallest_payload ? smallest_payload : bytes);
  return static_cast<std::size_t>(std::countr_zero(rounded) - std::countr_zero(smallest_payload));
}

}  // namespace

void Envelope::set_side(const wire::Side& side) noexcept {
  bytes = side.bytes;
  segments = side.segments;
  uniform_block = side.uniform_block;
  hash = {side.hash_low, side.hash_high};
  alignment_log2 = side.alignment_log2;
  memory = side.memory;
  mixed = side.mixed;
}

Summary Envelope::summary() const noexcept {
  wire::Side side;
  side.bytes = bytes;
  side.segments = segments;
  side.uniform_block = uniform_block;
  side.hash_low = hash.low;
  side.hash_high = hash.high;
  side.alignment_log2 = alignment_log2;
  side.memory = memory;
  return wire::from_wire(side);
}

Envelope& EnvelopePool::take() {
  if (free_ == nullptr) {
    blocks_.push_back(std::make_unique<Envelope[]>(block_envelopes));
    memory_bytes_ += block_envelopes * sizeof(Envelope);
    for (std::size_t i = block_envelopes; i-- > 0;) {
      blocks_.back()[i].next = free_;
      free_ = &blocks_.back()[i];
    }
  }
  auto* taken = static_cast<Envelope*>(free_);
  free_ = taken->next;
  *taken = Envelope{};
  return *taken;
}

void EnvelopePool::give_back(Envelope& envelope) noexcept {
  if (envelope.payload != nullptr) {
    std::byte*& list = free_payloads_[size_class(static_cast<std::size_t>(envelope.bytes))];
    std::memcpy(envelope.payload, &list, sizeof list);
    list = envelope.payload;
    envelope.payload = nullptr;
  }
  envelope.next = free_;
  free_ = &envelope;
}

void EnvelopePool::keep_payload(Envelope& envelope, std::span<const std::byte> payload) {
  const std::size_t which = size_class(payload.size());
  if (free_payloads_[which] == nullptr) {
    payloads_.push_back(std::make_unique_for_overwrite<std::byte[]>(smallest_payload << which));
    memory_bytes_ += smallest_payload << which;
    envelope.payload = payloads_.back().get();
  } else {
    envelope.payload = free_payloads_[which];
    std::memcpy(&free_payloads_[which], envelope.payload, sizeof(std::byte*));
  }
  std::memcpy(envelope.payload, payload.data(), payload.size());
}

}  // namespace lath::transport
