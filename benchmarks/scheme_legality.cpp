#include "benchmarks/scheme_legality.hpp"

#include <fmt/format.h>

#include "benchmarks/lath_call.hpp"
#include "transport/c_api.hpp"
#include "transport/peer.hpp"

namespace lath::benchmarks {
namespace {

/// What the worker tells its peers that it can do.
transport::Capabilities capabilities_of(lath_worker worker) {
  return transport::WorkerAddress::decode(worker_address(worker)).abilities.capabilities;
}

/// Of one process; empty where the scheme is legal in a direction.
std::string why_not_legal(lath_worker worker, const PingpongSide& side, transport::Scheme scheme) {
  const auto memory =
      side.memory == Memory::device ? providers::MemoryKind::device : providers::MemoryKind::host;
  const transport::Summary summary = transport::summarise(Layout::of(side.type, side.count), memory);
  const providers::Limits& limits = transport::c_api::worker_of(worker).limits();
  const transport::Capabilities capabilities = capabilities_of(worker);
  const auto verdict = [&](transport::Direction direction) {
    return transport::judge(summary, direction, limits, capabilities)[static_cast<std::size_t>(scheme)];
  };
  const transport::Verdict sending = verdict(transport::Direction::send);
  const transport::Verdict receiving = verdict(transport::Direction::receive);
  if (sending.legal || receiving.legal) return {};
  if (sending.reason == receiving.reason) return sending.reason;
  return fmt::format("sending, {}; receiving, {}", sending.reason, receiving.reason);
}

}  // namespace

std::string why_not_legal(Pair& pair, const PingpongSide& mine, transport::Scheme scheme) {
  const auto reasons = pair.texts(why_not_legal(pair.worker(), mine, scheme));
  if (reasons[0].empty() || reasons[1].empty()) return {};
  if (reasons[0] == reasons[1]) return reasons[0];
  return fmt::format("process 0: {}; process 1: {}", reasons[0], reasons[1]);
}

}  // namespace lath::benchmarks
