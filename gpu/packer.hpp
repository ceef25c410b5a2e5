#pragma once

#include <cstddef>
#include <memory>

#include "base/result.hpp"
#include "datatypes/layout.hpp"
#include "gpu/stream.hpp"

namespace lath::gpu {

/// Packs and unpacks layouts in device memory with kernels, asynchronously on a stream. One a worker and
/// device; one thread at a time. A call makes a constant number of driver calls whatever the number of
/// blocks.
class Packer {
 public:
  /// Loads the kernels. Throws where there are none for this device.
  explicit Packer(int device);
  ~Packer();

  /// Packs [range.begin, range.end) of `layout` at device (or managed, or pinned) address `base` to `packed`,
  /// device or pinned memory of range.bytes(). Strided nests (any rank) and segment tables are handled by one
  /// kernel each, read from a descriptor uploaded once a layout and kept; other layouts through a table of
  /// the range's segments. The layout and both memories must stay until the stream has passed. again: the
  /// descriptor pool is in use; try after earlier calls have passed.
  Result pack(const Layout& layout, const void* base, PackedRange range, void* packed,
              Stream& stream) noexcept;
  Result unpack(const Layout& layout, void* base, PackedRange range, const void* packed,
                Stream& stream) noexcept;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace lath::gpu
