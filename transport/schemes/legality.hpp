#pragma once

#include <string>

#include "transport/plan.hpp"

namespace lath::transport {

/// One clause that says why is_legal() answers as it does.
[[nodiscard]] std::string legality_reason(Scheme scheme, const Summary& side, Direction direction,
                                          const providers::Limits& limits, const Capabilities& capabilities,
                                          bool mixed);

}  // namespace lath::transport
