#include "transport/delivery.hpp"

#include <algorithm>
#include <cstring>

#include "transport/engine.hpp"

namespace lath::transport {

Result Delivery::advance() noexcept {
  const auto total = static_cast<std::int64_t>(payload.size());
  while (delivered < total) {
    if (phase == Phase::begin) {
      Result result = sink->begin({delivered, std::min(total, delivered + piece)}, slot);
      if (!result.is_done()) return result;
      const std::byte* from = payload.data() + delivered;
      for (const providers::Segment& segment : slot.list) {
        std::memcpy(segment.address, from, segment.length);
        from += segment.length;
      }
      phase = Phase::arrived;
    }
    Result result = phase == Phase::arrived ? sink->arrived(slot, slot.range.bytes()) : sink->finished(slot);
    if (result.is_again()) return result;
    if (result.is_error()) {
      sink->release(slot);
      return result;
    }
    if (phase == Phase::arrived) {
      phase = Phase::finished;
      continue;
    }
    delivered = slot.range.end;
    sink->release(slot);
    phase = Phase::begin;
  }
  return Result::done();
}

void Deliveries::start(Request& request, std::span<const std::byte> payload, std::int64_t sent) {
  SchemeFactory& factory = engine_.factory();
  auto delivery = std::make_unique<Delivery>();
  delivery->request = &request;
  delivery->sent = sent;
  delivery->payload.assign(payload.begin(), payload.end());
  const Capabilities capabilities = factory.capabilities();
  delivery->piece = capabilities.bounce_bytes > 0 ? capabilities.bounce_bytes : tuning().chunk_bytes;
  const Buffer buffer = engine_.buffer(request.data);
  std::unique_ptr<Error> why;
  const bool packs = capabilities.kernels && !request.mixed && tuning().forced != Scheme::staged;
  if (packs) delivery->sink = factory.sink(Scheme::host_pack, buffer, why);
  if (!delivery->sink) delivery->sink = factory.sink(Scheme::staged, buffer, why);
  if (!delivery->sink) return engine_.fail(request, *why);
  engine_.moved(request, delivery->sink->scheme());
  request.delivery = std::move(delivery);
  active_.push_back(&request);
}

void Deliveries::progress() {
  std::erase_if(active_, [this](Request* request) {
    Result result = request->delivery->advance();
    if (result.is_again()) return false;
    const std::int64_t sent = request->delivery->sent;
    request->delivery.reset();
    if (result.is_error())
      engine_.fail(*request, result.error());
    else
      engine_.received(*request, sent);
    return true;
  });
}

}  // namespace lath::transport
