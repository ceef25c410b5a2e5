#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/stream.hpp"
#include "providers/provider.hpp"

namespace lath::providers {

/// What the checks move. Declared before the provider that is checked: where a check fails, an operation may
/// still be under way, and its memory must stay until the provider is closed.
struct LoopBackMemory {
  std::vector<std::byte> source, target, back;
  gpu::DeviceBuffer device_source, device_target;
};

/// Sends a message and a tagged message from the provider to itself and compares the bytes. Throws Error that
/// names the step which failed or took longer than a few seconds.
void check_messages(Provider& provider, LoopBackMemory& memory);

/// The same with an RMA write and read; limits().rma must hold.
void check_rma(Provider& provider, LoopBackMemory& memory);

/// The same with a tagged message between device buffers. A GPU must be available.
void check_device_memory(Provider& provider, LoopBackMemory& memory);

}  // namespace lath::providers
