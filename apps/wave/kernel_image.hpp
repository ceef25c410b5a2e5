#pragma once

#include <span>

#include "gpu/stream.hpp"

namespace lath::wave {

/// The kernels as host code, in the order of the enum Kernel.
[[nodiscard]] std::span<const gpu::HostKernel> host_kernels();
/// The same with the code for GPUs where it was built.
[[nodiscard]] gpu::KernelImage kernel_image();

}  // namespace lath::wave
