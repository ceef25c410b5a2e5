#pragma once

#include <cstdint>

/// Facts that tell a dead peer on this machine from a busy one.
namespace lath::providers {

/// This machine, and within it the container that numbers its processes; 0 where the system does not tell.
[[nodiscard]] std::uint64_t node_identity();

/// Whether the process of this number has ended. Makes system calls, none of which waits.
[[nodiscard]] bool process_has_ended(std::int64_t process) noexcept;

}  // namespace lath::providers
