#pragma once

#include "transport/scheme.hpp"

namespace lath::transport {

/// The work of SchemeFactory::placement(), without its state.
[[nodiscard]] SchemeFactory::Placement place(const Buffer& buffer) noexcept;

}  // namespace lath::transport
