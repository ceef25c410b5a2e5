#include "transport/plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "transport/schemes/cost_model.hpp"
#include "transport/schemes/legality.hpp"

namespace lath::transport {
namespace {

constexpr std::array<Scheme, scheme_count> schemes{Scheme::contiguous, Scheme::gather, Scheme::device_pack,
                                                   Scheme::host_pack, Scheme::staged};

bool on_device(const Summary& side) {
  return side.memory == providers::MemoryKind::device;
}

bool moves_user_memory(Scheme scheme) {
  return scheme == Scheme::contiguous || scheme == Scheme::gather;
}

std::int64_t product_or_most(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

std::int64_t largest_message(const providers::Limits& limits) {
  const auto most = static_cast<std::size_t>(INT64_MAX);
  return limits.max_message == 0 ? INT64_MAX : static_cast<std::int64_t>(std::min(limits.max_message, most));
}

std::int64_t bounce_bytes(const Capabilities& capabilities, const Tuning& tuned) {
  return capabilities.bounce_bytes > 0 ? std::min(capabilities.bounce_bytes, tuned.chunk_bytes)
                                       : tuned.chunk_bytes;
}

/// What the chunks of one side may be.
struct ChunkBound {
  std::int64_t most = INT64_MAX;  ///< bytes of a chunk
  std::int64_t list = 0;          ///< blocks of a chunk; 0: any number
  std::int64_t block = 1;

  [[nodiscard]] std::int64_t aligned_most() const {
    const std::int64_t bytes = product_or_most(list, block);
    return bytes <= most ? bytes : most - most % block;
  }
  /// A chunk that begins anywhere in a block touches at most one block more than its length has.
  [[nodiscard]] std::int64_t unaligned_most() const {
    return std::min(most, product_or_most(list - 1, block));
  }
  [[nodiscard]] bool fits(std::int64_t bytes) const {
    if (bytes < 1 || bytes > most) return false;
    return list == 0 || bytes <= unaligned_most() || (bytes % block == 0 && bytes / block <= list);
  }
};

ChunkBound chunk_bound(Scheme scheme, const Summary& side, Direction direction,
                       const providers::Limits& limits, const Capabilities& capabilities,
                       const Tuning& tuned) {
  ChunkBound bound;
  bound.most = largest_message(limits);
  if (!moves_user_memory(scheme) || limits.local_registration || on_device(side))
    bound.most = std::min(bound.most, bounce_bytes(capabilities, tuned));
  const auto list = static_cast<std::int64_t>(list_length(limits, direction));
  if (scheme == Scheme::gather && side.segments > list) {
    bound.list = list;
    bound.block = side.uniform_block;
  }
  return bound;
}

/// The largest chunk that suits both sides of a message.
std::int64_t common_chunk(const ChunkBound& a, const ChunkBound& b, std::int64_t message_bytes) {
  const std::int64_t most = std::max<std::int64_t>(std::min({a.most, b.most, message_bytes}), 1);
  std::int64_t best = 0;
  const auto consider = [&](std::int64_t bytes) {
    bytes = std::min(bytes, most);
    if (bytes > best && a.fits(bytes) && b.fits(bytes)) best = bytes;
  };
  consider(most);
  for (const ChunkBound* side : {&a, &b}) {
    if (side->list == 0) continue;
    consider(side->aligned_most());
    consider(most - most % side->block);
    consider(side->unaligned_most());
  }
  if (a.list != 0 && b.list != 0) {
    const std::int64_t step = product_or_most(a.block / std::gcd(a.block, b.block), b.block);
    const std::int64_t both = std::min({a.aligned_most(), b.aligned_most(), most});
    consider(both - both % step);
  }
  return best;
}

std::int64_t chunk_count(std::int64_t bytes, std::int64_t chunk) {
  return bytes <= 0 ? 1 : (bytes - 1) / chunk + 1;
}

/// One side alone: as if the other were contiguous.
double predict(Scheme scheme, const Summary& side, Direction direction, const providers::Limits& limits,
               const Capabilities& capabilities, bool mixed, const Tuning& tuned) {
  const ChunkBound bound = chunk_bound(scheme, side, direction, limits, capabilities, tuned);
  const std::int64_t chunk = common_chunk(bound, ChunkBound{}, side.bytes);
  return message_time(stage_times(scheme, side, capabilities, mixed, std::min(chunk, side.bytes)), {},
                      chunk_count(side.bytes, chunk));
}

std::int32_t in_flight(const Plan& plan, std::int64_t chunks, const Tuning& tuned,
                       const providers::Limits& source, const providers::Limits& sink) {
  std::int64_t count = tuned.chunks_in_flight;
  if (moves_user_memory(plan.source) && moves_user_memory(plan.sink)) {
    // Such chunks hold no bounce memory, and may be small: as many as have the usual bytes on the wire, while
    // the queues are left to other messages, too.
    const std::int64_t bytes = product_or_most(tuned.chunks_in_flight, tuned.chunk_bytes);
    count = std::max(count, bytes / plan.chunk_bytes);
    for (const providers::Limits* limits : {&source, &sink})
      if (limits->queue_depth > 0)
        count = std::min(
            count, std::max<std::int64_t>(tuned.chunks_in_flight,
                                          static_cast<std::int64_t>(std::min<std::size_t>(
                                              limits->queue_depth / 4, std::size_t{max_chunks_in_flight}))));
  }
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(std::min(count, chunks), 1, max_chunks_in_flight));
}

}  // namespace

Summary summarise(const Layout& layout, providers::MemoryKind memory) {
  return {.bytes = layout.bytes(),
          .segments = layout.segment_count(),
          .uniform_block = layout.uniform_block(),
          .alignment = layout.alignment(),
          .hash = layout.hash(),
          .memory = memory};
}

std::vector<Verdict> judge(const Summary& side, Direction direction, const providers::Limits& limits,
                           const Capabilities& capabilities, bool mixed, const Tuning& tuned) {
  std::vector<Verdict> out;
  out.reserve(scheme_count);
  for (const Scheme scheme : schemes) {
    Verdict verdict{.scheme = scheme, .reason = {}};
    verdict.legal = is_legal(scheme, side, direction, limits, capabilities, mixed);
    verdict.reason = legality_reason(scheme, side, direction, limits, capabilities, mixed);
    if (verdict.legal) verdict.seconds = predict(scheme, side, direction, limits, capabilities, mixed, tuned);
    out.push_back(std::move(verdict));
  }
  return out;
}

Scheme choose(const Summary& side, Direction direction, const providers::Limits& limits,
              const Capabilities& capabilities, bool mixed, const Tuning& tuned) noexcept {
  if (tuned.forced && is_legal(*tuned.forced, side, direction, limits, capabilities, mixed))
    return *tuned.forced;
  Scheme best = Scheme::staged;
  double least = predict(best, side, direction, limits, capabilities, mixed, tuned);
  for (const Scheme scheme : schemes) {
    if (!is_legal(scheme, side, direction, limits, capabilities, mixed)) continue;
    const double seconds = predict(scheme, side, direction, limits, capabilities, mixed, tuned);
    // Of equals the one that needs the least work: the schemes' order.
    if (seconds > least || (seconds == least && scheme > best)) continue;
    best = scheme;
    least = seconds;
  }
  return best;
}

Scheme fallback(Scheme refused, const Summary& side, const Capabilities& capabilities, bool mixed) noexcept {
  const bool packs = !mixed && (!on_device(side) || capabilities.kernels);
  return packs && refused != Scheme::host_pack && refused != Scheme::staged ? Scheme::host_pack
                                                                            : Scheme::staged;
}

Plan make_plan(const Summary& source, const providers::Limits& source_limits,
               const Capabilities& source_capabilities, bool source_mixed, const Summary& sink,
               const providers::Limits& sink_limits, const Capabilities& sink_capabilities, bool sink_mixed,
               const Tuning& tuned) noexcept {
  const std::int64_t bytes = std::max<std::int64_t>(std::min(source.bytes, sink.bytes), 0);
  const auto source_legal = [&](Scheme scheme) {
    return is_legal(scheme, source, Direction::send, source_limits, source_capabilities, source_mixed);
  };
  const auto sink_legal = [&](Scheme scheme) {
    return is_legal(scheme, sink, Direction::receive, sink_limits, sink_capabilities, sink_mixed);
  };
  const bool source_forced = tuned.forced && source_legal(*tuned.forced);
  const bool sink_forced = tuned.forced && sink_legal(*tuned.forced);
  Plan best;
  for (const Scheme from : schemes) {
    if (source_forced ? from != *tuned.forced : !source_legal(from)) continue;
    const ChunkBound source_bound =
        chunk_bound(from, source, Direction::send, source_limits, source_capabilities, tuned);
    for (const Scheme to : schemes) {
      if (sink_forced ? to != *tuned.forced : !sink_legal(to)) continue;
      const ChunkBound sink_bound =
          chunk_bound(to, sink, Direction::receive, sink_limits, sink_capabilities, tuned);
      const std::int64_t chunk = common_chunk(source_bound, sink_bound, bytes);
      if (chunk < 1) continue;
      const std::int64_t moved = std::min(chunk, bytes);
      const double seconds = message_time(stage_times(from, source, source_capabilities, source_mixed, moved),
                                          stage_times(to, sink, sink_capabilities, sink_mixed, moved),
                                          chunk_count(bytes, chunk));
      if (best.chunk_bytes != 0 && seconds >= best.seconds) continue;
      best = {.source = from, .sink = to, .chunk_bytes = chunk, .chunks_in_flight = 1, .seconds = seconds};
    }
  }
  best.chunks_in_flight =
      in_flight(best, chunk_count(bytes, best.chunk_bytes), tuned, source_limits, sink_limits);
  return best;
}

}  // namespace lath::transport
