#pragma once

#include "gpu/stream.hpp"

namespace lath::gpu {

/// The pack and unpack kernels, as nvcc and the host compiler made them.
const KernelImage& pack_image();

}  // namespace lath::gpu
