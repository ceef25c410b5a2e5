#include "transport/schemes/device_copy.hpp"

#include <algorithm>
#include <cstring>

#include "datatypes/cursor.hpp"
#include "gpu/device.hpp"

namespace lath::transport {

std::uint64_t passes(DevicePath path) noexcept {
  return path == DevicePath::kernel_and_copy ? 2 : 1;
}

Result DeviceSide::start(PackedRange range, BounceSlot& slot) noexcept {
  if (path_ == DevicePath::kernel_and_copy && slot.scratch == nullptr)
    if (Result taken = lane_.scratch_chunks().take(pools_.direction(), slot.scratch); !taken.is_done())
      return taken;
  if (slot.event == nullptr)
    if (Result taken = lane_.events().take(pools_.direction(), slot.event); !taken.is_done()) {
      finish(slot);
      return taken;
    }
  slot.stream = &lane_.next_stream();
  if (Result submitted = submit(range, slot); !submitted.is_done()) {
    // Part of the work may have been submitted: what it touches must not be given back under it.
    if (submitted.is_error()) static_cast<void>(slot.stream->synchronize());
    finish(slot);
    return submitted;
  }
  count_passes(counters_, range, passes(path_), scheme_ != Scheme::device_pack);
  return Result::done();
}

Result DeviceSide::submit(PackedRange range, BounceSlot& slot) noexcept {
  gpu::Stream& stream = *slot.stream;
  std::byte* chunk = slot.chunk->address;
  const auto bytes = static_cast<std::size_t>(range.bytes());
  Result moved = Result::done();
  switch (path_) {
    case DevicePath::copy: {
      std::byte* user = buffer_.at(buffer_.layout.lowest() + range.begin);
      moved = packs() ? stream.copy(chunk, user, bytes) : stream.copy(user, chunk, bytes);
      break;
    }
    case DevicePath::kernel:
      moved = submit_kernel(range, chunk, stream);
      break;
    case DevicePath::kernel_and_copy:
      if (packs()) {
        moved = submit_kernel(range, slot.scratch->address, stream);
        if (moved.is_done()) moved = stream.copy(chunk, slot.scratch->address, bytes);
      } else {
        moved = stream.copy(slot.scratch->address, chunk, bytes);
        if (moved.is_done()) moved = submit_kernel(range, slot.scratch->address, stream);
        // The copy runs already: it must have ended before the scratch memory is given back.
        if (moved.is_again() && stream.synchronize().is_error())
          moved = Result::failure(Code::gpu, "waiting for a copy into device memory failed");
      }
      break;
    case DevicePath::copy_each_segment:
      moved = submit_segments(range, chunk, stream);
      break;
  }
  return moved.is_done() ? stream.record(*slot.event) : std::move(moved);
}

Result DeviceSide::submit_kernel(PackedRange range, void* packed, gpu::Stream& stream) noexcept {
  return packs() ? lane_.packer()->pack(buffer_.layout, buffer_.address, range, packed, stream)
                 : lane_.packer()->unpack(buffer_.layout, buffer_.address, range, packed, stream);
}

Result DeviceSide::submit_segments(PackedRange range, std::byte* packed, gpu::Stream& stream) noexcept {
  Cursor cursor(buffer_.layout, range.begin);
  while (cursor.position() < range.end) {
    const LayoutSegment segment = cursor.next(range.end - cursor.position());
    std::byte* user = buffer_.at(segment.offset);
    const auto bytes = static_cast<std::size_t>(segment.length);
    std::byte* to = packs() ? packed : user;
    const std::byte* from = packs() ? user : packed;
    if (gpu::memory_info(user).kind != gpu::MemoryKind::device)
      std::memcpy(to, from, bytes);
    else if (Result copied = stream.copy(to, from, bytes); !copied.is_done())
      return copied;
    packed += bytes;
  }
  return Result::done();
}

Result DeviceSide::poll(Slot& slot) noexcept {
  auto* state = static_cast<BounceSlot*>(slot.state);
  if (state == nullptr || state->stream == nullptr) return Result::done();
  Result passed = state->event->poll();
  if (passed.is_done()) finish(*state);
  return passed;
}

void DeviceSide::finish(BounceSlot& slot) noexcept {
  if (slot.event != nullptr) lane_.events().give(slot.event, pools_.direction());
  if (slot.scratch != nullptr) lane_.scratch_chunks().give(slot.scratch, pools_.direction());
  slot.event = nullptr;
  slot.scratch = nullptr;
  slot.stream = nullptr;
}

void DeviceSide::release(Slot& slot) noexcept {
  auto* state = static_cast<BounceSlot*>(slot.state);
  if (state != nullptr && state->stream != nullptr) {
    static_cast<void>(state->stream->synchronize());
    finish(*state);
  }
  pools_.give(slot);
}

Result DeviceSource::begin(PackedRange range, Slot& slot) noexcept {
  Result taken = side_.pools().take(range, slot);
  if (!taken.is_done() || slot.state == nullptr) return taken;
  Result started = side_.start(range, *static_cast<BounceSlot*>(slot.state));
  if (!started.is_done()) side_.release(slot);
  return started;
}

Result DeviceSink::arrived(Slot& slot, std::int64_t bytes) noexcept {
  const std::int64_t moved = std::min(bytes, slot.range.bytes());
  if (slot.state == nullptr || moved <= 0) return Result::done();
  return side_.start({slot.range.begin, slot.range.begin + moved}, *static_cast<BounceSlot*>(slot.state));
}

}  // namespace lath::transport
