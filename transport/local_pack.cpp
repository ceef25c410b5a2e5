#include "transport/local_pack.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "datatypes/cursor.hpp"
#include "gpu/device.hpp"
#include "gpu/packer.hpp"
#include "gpu/stream.hpp"

namespace lath::transport {
namespace {

constexpr std::int64_t bounce_bytes = std::int64_t{4} << 20;

/// Where the segments of a range lie.
struct Place {
  int device = -1;  ///< of all of them; -1: the host can reach all
  bool mixed = false;
};

std::byte* at(const void* base, std::int64_t offset) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset);
  return reinterpret_cast<std::byte*>(address);
}

int device_of(const gpu::MemoryInfo& info) noexcept {
  return info.kind == gpu::MemoryKind::device ? info.device : -1;
}

/// Calls visit(segment, packed offset from the range's begin) for every segment, until it answers false.
template <class Visit>
void for_each_segment(const Layout& layout, PackedRange range, Visit visit) {
  std::array<LayoutSegment, 256> segments;
  for (std::int64_t done = 0; range.begin + done < range.end;) {
    const SegmentList list = list_segments(layout, {range.begin + done, range.end}, segments);
    for (std::size_t i = 0; i < list.count; ++i) {
      if (!visit(segments[i], done)) return;
      done += segments[i].length;
    }
  }
}

Place place_of(const Layout& layout, const void* base, PackedRange range) {
  Place place;
  if (!gpu::availability().available) return place;
  bool first = true;
  gpu::MemoryInfo info;
  for_each_segment(layout, range, [&](const LayoutSegment& segment, std::int64_t) {
    const auto address = reinterpret_cast<std::uintptr_t>(at(base, segment.offset));
    const bool known = info.bytes > 0 && address >= info.base && address - info.base < info.bytes;
    if (!known) info = gpu::memory_info(at(base, segment.offset));
    if (!first && device_of(info) != place.device) place.mixed = true;
    place.device = std::max(place.device, device_of(info));
    first = false;
    return !place.mixed;
  });
  return place;
}

/// Kernels and a bounce buffer of one device, made at first use and kept till the process ends: the driver
/// may be gone before static objects are.
struct Lane {
  explicit Lane(int device) : packer(device), stream(device) {}
  std::mutex mutex;
  gpu::Packer packer;
  gpu::Stream stream;
  gpu::DeviceBuffer bounce;
};

Lane& lane_of(int device) {
  static std::mutex mutex;
  static auto& lanes = *new std::map<int, std::unique_ptr<Lane>>;
  const std::lock_guard guard(mutex);
  std::unique_ptr<Lane>& lane = lanes[device];
  if (lane == nullptr) lane = std::make_unique<Lane>(device);
  return *lane;
}

Result segment_by_segment(const Layout& layout, const void* base, PackedRange range, void* packed,
                          bool packing) {
  Result result = Result::done();
  for_each_segment(layout, range, [&](const LayoutSegment& segment, std::int64_t done) {
    std::byte* user = at(base, segment.offset);
    std::byte* other = static_cast<std::byte*>(packed) + done;
    const auto bytes = static_cast<std::size_t>(segment.length);
    result = packing ? gpu::copy_and_wait(other, user, bytes) : gpu::copy_and_wait(user, other, bytes);
    return !result.is_error();
  });
  return result;
}

Result by_kernel(const Layout& layout, const void* base, PackedRange range, void* packed, bool packing,
                 Lane& lane) {
  Result result = packing ? lane.packer.pack(layout, base, range, packed, lane.stream)
                          : lane.packer.unpack(layout, const_cast<void*>(base), range, packed, lane.stream);
  if (result.is_error()) return result;
  if (result.is_done()) return lane.stream.synchronize();
  return Result::failure(Code::internal, "a lane with nothing under way has no free list");
}

/// The layout lies on a device.
Result on_device(const Layout& layout, const void* base, PackedRange range, void* packed, bool packing,
                 int device) {
  Lane& lane = lane_of(device);
  const std::lock_guard guard(lane.mutex);
  const gpu::MemoryInfo info = gpu::memory_info(packed);
  const bool reachable = info.kind == gpu::MemoryKind::pinned || device_of(info) == device;
  if (reachable) return by_kernel(layout, base, range, packed, packing, lane);
  if (lane.bounce.size() == 0) lane.bounce = gpu::DeviceBuffer(device, bounce_bytes);
  for (std::int64_t begin = range.begin; begin < range.end; begin += bounce_bytes) {
    const PackedRange piece{begin, std::min(range.end, begin + bounce_bytes)};
    const auto bytes = static_cast<std::size_t>(piece.bytes());
    std::byte* other = static_cast<std::byte*>(packed) + (begin - range.begin);
    Result result = Result::done();
    if (!packing) result = gpu::copy_and_wait(lane.bounce.data(), other, bytes);
    if (result.is_done()) result = by_kernel(layout, base, piece, lane.bounce.data(), packing, lane);
    if (packing && result.is_done()) result = gpu::copy_and_wait(other, lane.bounce.data(), bytes);
    if (!result.is_done()) return result;
  }
  return Result::done();
}

/// The layout lies in host memory, the packed bytes on a device.
Result to_device(const Layout& layout, const void* base, PackedRange range, void* packed, bool packing) {
  std::vector<std::byte> bounce(static_cast<std::size_t>(std::min(range.bytes(), bounce_bytes)));
  for (std::int64_t begin = range.begin; begin < range.end; begin += bounce_bytes) {
    const PackedRange piece{begin, std::min(range.end, begin + bounce_bytes)};
    const auto bytes = static_cast<std::size_t>(piece.bytes());
    std::byte* other = static_cast<std::byte*>(packed) + (begin - range.begin);
    if (packing) pack(layout, base, piece, bounce.data());
    Result result = packing ? gpu::copy_and_wait(other, bounce.data(), bytes)
                            : gpu::copy_and_wait(bounce.data(), other, bytes);
    if (!result.is_done()) return result;
    if (!packing) unpack(layout, const_cast<void*>(base), piece, bounce.data());
  }
  return Result::done();
}

Result move(const Layout& layout, const void* base, PackedRange range, void* packed, bool packing) {
  const Place place = place_of(layout, base, range);
  if (place.mixed) return segment_by_segment(layout, base, range, packed, packing);
  if (place.device >= 0) return on_device(layout, base, range, packed, packing, place.device);
  if (device_of(gpu::memory_info(packed)) >= 0) return to_device(layout, base, range, packed, packing);
  if (packing)
    pack(layout, base, range, packed);
  else
    unpack(layout, const_cast<void*>(base), range, packed);
  return Result::done();
}

}  // namespace

Result pack_anywhere(const Layout& layout, const void* base, PackedRange range, void* packed) {
  return range.bytes() == 0 ? Result::done() : move(layout, base, range, packed, true);
}

Result unpack_anywhere(const Layout& layout, void* base, PackedRange range, const void* packed) {
  return range.bytes() == 0 ? Result::done() : move(layout, base, range, const_cast<void*>(packed), false);
}

}  // namespace lath::transport
