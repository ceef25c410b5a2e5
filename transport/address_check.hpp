#pragma once

#include "base/result.hpp"
#include "transport/request.hpp"

namespace lath::transport {

/// Whether the host memory that a buffer reaches can be there at all: nothing below the first 64 KiB of the
/// address space. No system call: for every message.
[[nodiscard]] Result check_plausible(const Data& data) noexcept;

/// Whether it is mapped: asks the kernel for the whole range and, where that has holes, segment by segment.
/// Some system calls: for long messages, and for all where LATH_CHECK_BUFFERS is set. Device segments are
/// passed over.
[[nodiscard]] Result check_mapped(const Data& data) noexcept;

}  // namespace lath::transport
