#pragma once

#include <ucs/type/status.h>

#include <string>

#include "base/error.hpp"

namespace lath::providers::ucx {

/// A UCX status as an Error. Statuses that say what the caller must tell apart (cancelled, truncated,
/// unreachable, no memory) come as that code of Domain::lath, others in Domain::ucx. The text has UCX' words.
[[nodiscard]] Error failure(ucs_status_t status, const std::string& doing);

/// Throws failure() where `status` is an error.
void check(ucs_status_t status, const char* doing);

}  // namespace lath::providers::ucx
