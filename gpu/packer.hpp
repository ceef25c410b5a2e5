#pragma once

#include <cstddef>
#include <memory>

#include "base/result.hpp"
#include "datatypes/layout.hpp"
#include "gpu/stream.hpp"

namespace lath::gpu {

/// Packs and unpacks layouts in device memory with kernels, asynchronously on a stream. One a worker and
/// device; one thread at a time. A call makes a constant number of driver calls for each 64 Ki segments of
/// its range, and for a strided nest one, whatever the number of blocks.
class Packer {
 public:
  /// Loads the kernels. Throws where there are none for this device.
  explicit Packer(int device);
  ~Packer();

  /// Packs [range.begin, range.end) of `layout` at device (or managed, or pinned) address `base` to `packed`,
  /// device or pinned memory of range.bytes(). A contiguous layout is copied, a strided nest of up to 8 loops
  /// is one launch. Other layouts go by lists of segments that are uploaded once and kept, the least recently
  /// used giving way. Both memories must stay until the stream has passed, the layout only during the call.
  /// again: every list is in use by earlier calls; try after some have passed. A range of more than 1 Mi
  /// segments waits for its own first lists.
  Result pack(const Layout& layout, const void* base, PackedRange range, void* packed,
              Stream& stream) noexcept;
  Result unpack(const Layout& layout, void* base, PackedRange range, const void* packed,
                Stream& stream) noexcept;

  /// Bytes of device memory held for lists; as much pinned host memory goes with them.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  static std::size_t memory_limit_bytes() noexcept;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace lath::gpu
