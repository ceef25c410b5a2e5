#include "transport/schemes/user_registration.hpp"

#include <array>
#include <new>

#include "datatypes/cursor.hpp"
#include "gpu/device.hpp"

namespace lath::transport {

Result UserRegistration::add(providers::RegistrationCache& cache, std::byte* begin, std::size_t bytes,
                             providers::MemoryKind kind, Direction direction) {
  gpu::MemoryInfo info;
  if (kind == providers::MemoryKind::device) {
    info = gpu::memory_info(begin);
    const auto end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
    if (info.bytes > 0 && end > info.base + info.bytes)
      return Result::failure(Code::not_supported, "the data lies in several allocations of the device");
  }
  std::unique_ptr<Error> why;
  // Read-only memory can be sent from: no write access is asked for there.
  auto pin = cache.pin(begin, bytes, info, direction == Direction::receive, why);
  if (!pin)
    return Result::failure(why ? *why : Error(Code::no_memory, "registration of user memory refused"));
  ranges_.push_back({begin, bytes, std::move(pin)});
  return Result::done();
}

Result UserRegistration::make(providers::RegistrationCache& cache, const providers::Limits& limits,
                              const Buffer& buffer, providers::MemoryKind kind,
                              Direction direction) noexcept {
  ranges_.clear();
  const bool needed = limits.local_registration || kind == providers::MemoryKind::device;
  const Layout& layout = buffer.layout;
  if (!needed || layout.bytes() == 0) return Result::done();
  try {
    Result whole = add(cache, buffer.at(layout.lowest()),
                       static_cast<std::size_t>(layout.highest() - layout.lowest()), kind, direction);
    const auto few = static_cast<std::int64_t>(list_length(limits, direction));
    if (whole.is_done() || layout.segment_count() < 2 || layout.segment_count() > few) return whole;
    std::array<LayoutSegment, max_list_length> segments;
    const SegmentList list = list_segments(layout, {0, layout.bytes()}, segments);
    for (std::size_t i = 0; i < list.count; ++i) {
      Result one = add(cache, buffer.at(segments[i].offset), static_cast<std::size_t>(segments[i].length),
                       kind, direction);
      if (one.is_done()) continue;
      ranges_.clear();
      return one;
    }
    return Result::done();
  } catch (const std::bad_alloc&) {
    ranges_.clear();
    return Result::failure(Code::no_memory, "no host memory for a list of registrations");
  }
}

const providers::Registration* UserRegistration::of(const void* address) const noexcept {
  const auto* wanted = static_cast<const std::byte*>(address);
  for (const Range& range : ranges_)
    if (wanted >= range.begin && wanted < range.begin + range.bytes) return range.pin.registration();
  return nullptr;
}

}  // namespace lath::transport
