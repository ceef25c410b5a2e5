#pragma once

#include <string>

#include "benchmarks/pair.hpp"
#include "benchmarks/pingpong.hpp"
#include "transport/plan.hpp"

namespace lath::benchmarks {

/// Why the messages of a ping-pong can be moved by a scheme in neither process and neither direction; empty
/// where they can in one. Collective; `mine` is this process' side, the answer is the same in both.
[[nodiscard]] std::string why_not_legal(Pair& pair, const PingpongSide& mine, transport::Scheme scheme);

}  // namespace lath::benchmarks
