#pragma once

#include "providers/registry.hpp"

namespace lath::providers::ucx {

/// Candidates are named by UCX' transports: "ucx:all" (what UCX_TLS says, or all that are sound), "ucx:shm",
/// "ucx:tcp" and, with an RDMA device, "ucx:rc_verbs,tcp", wired up over sockets; open() takes any list that
/// UCX_TLS takes.
[[nodiscard]] Family family();

}  // namespace lath::providers::ucx
