#pragma once

#include "transport/schemes/device_lane.hpp"

/// The schemes device_pack, host_pack and staged for data in device memory: asynchronous kernels and copies
/// between the user's buffer and a bounce chunk, each chunk on a stream of its own turn, its end marked by an
/// event.
namespace lath::transport {

/// How a chunk's bytes get from the user's buffer to the bounce chunk; unpacking goes the same way back.
enum class DevicePath : std::uint8_t {
  copy,               ///< one block: one copy
  kernel,             ///< a kernel writes the chunk
  kernel_and_copy,    ///< a kernel writes device memory, a copy brings that to the chunk
  copy_each_segment,  ///< where there are no kernels, or segments lie in host and device memory
};
/// Passes over the payload that a path makes.
[[nodiscard]] std::uint64_t passes(DevicePath path) noexcept;

/// What a Source and a Sink share.
class DeviceSide {
 public:
  DeviceSide(Scheme scheme, DevicePath path, Buffer buffer, BouncePools pools, DeviceLane& lane,
             Counters& counters)
      : scheme_(scheme),
        path_(path),
        buffer_(std::move(buffer)),
        pools_(pools),
        lane_(lane),
        counters_(counters) {}

  [[nodiscard]] Scheme scheme() const noexcept { return scheme_; }
  [[nodiscard]] BouncePools& pools() noexcept { return pools_; }
  /// Starts moving the range's bytes between the user's buffer and the slot's chunk. again: no event or
  /// scratch memory is free, or the packer is busy; nothing has started then.
  Result start(PackedRange range, BounceSlot& slot) noexcept;
  /// Whether what start() began has ended.
  Result poll(Slot& slot) noexcept;
  /// Waits for what still runs, which only happens to a chunk that is given up half-way.
  void release(Slot& slot) noexcept;

 private:
  Result submit(PackedRange range, BounceSlot& slot) noexcept;
  Result submit_kernel(PackedRange range, void* packed, gpu::Stream& stream) noexcept;
  Result submit_segments(PackedRange range, std::byte* packed, gpu::Stream& stream) noexcept;
  void finish(BounceSlot& slot) noexcept;
  [[nodiscard]] bool packs() const noexcept { return pools_.direction() == Direction::send; }

  Scheme scheme_;
  DevicePath path_;
  Buffer buffer_;
  BouncePools pools_;
  DeviceLane& lane_;
  Counters& counters_;
};

class DeviceSource final : public Source {
 public:
  explicit DeviceSource(DeviceSide side) : side_(std::move(side)) {}
  [[nodiscard]] Scheme scheme() const noexcept override { return side_.scheme(); }
  Result begin(PackedRange range, Slot& slot) noexcept override;
  Result ready(Slot& slot) noexcept override { return side_.poll(slot); }
  void release(Slot& slot) noexcept override { side_.release(slot); }

 private:
  DeviceSide side_;
};

class DeviceSink final : public Sink {
 public:
  explicit DeviceSink(DeviceSide side) : side_(std::move(side)) {}
  [[nodiscard]] Scheme scheme() const noexcept override { return side_.scheme(); }
  Result begin(PackedRange range, Slot& slot) noexcept override { return side_.pools().take(range, slot); }
  Result arrived(Slot& slot, std::int64_t bytes) noexcept override;
  Result finished(Slot& slot) noexcept override { return side_.poll(slot); }
  void release(Slot& slot) noexcept override { side_.release(slot); }

 private:
  DeviceSide side_;
};

}  // namespace lath::transport
