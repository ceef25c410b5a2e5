#pragma once

#include "base/result.hpp"
#include "datatypes/layout.hpp"

namespace lath::transport {

/// Packs a range of a layout at `base` to `packed`, or back, whatever memory either lies in: by the
/// processor, by kernels, or segment by segment where a layout reaches several memories. Returns when done.
/// Any thread.
Result pack_anywhere(const Layout& layout, const void* base, PackedRange range, void* packed);
Result unpack_anywhere(const Layout& layout, void* base, PackedRange range, const void* packed);

}  // namespace lath::transport
