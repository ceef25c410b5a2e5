#pragma once

#include <string>

#include "base/error.hpp"

namespace lath::providers::ofi {

/// A libfabric error number (positive or negative) as an Error. Numbers that say what the caller must tell
/// apart (cancelled, truncated, unreachable, no memory) come as that code of Domain::lath, others in
/// Domain::libfabric. The text has libfabric's words, then `provider_text` where given.
[[nodiscard]] Error failure(long number, const std::string& doing, const std::string& provider_text = {});

/// Throws failure() where `status` is negative.
void check(long status, const char* doing);

}  // namespace lath::providers::ofi
