#include "transport/schemes/direct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "datatypes/cursor.hpp"

namespace lath::transport {

Result DirectSide::list(PackedRange range, Slot& slot) noexcept {
  slot = {.range = range, .list = {}, .state = nullptr};
  if (range.bytes() <= 0) return Result::done();
  SegmentArray* array = nullptr;
  if (Result taken = arrays_.take(direction_, array); !taken.is_done()) return taken;

  std::array<LayoutSegment, max_list_length> found;
  const std::span<LayoutSegment> room(found.data(), std::min(found.size(), array->size()));
  const SegmentList list = list_segments(buffer_.layout, range, room);
  if (list.bytes < range.bytes()) {
    arrays_.give(array, direction_);
    return Result::failure(
        Code::internal,
        fmt::format("a chunk of {} bytes has more segments than the list's {}", range.bytes(), room.size()));
  }
  for (std::size_t i = 0; i < list.count; ++i) {
    std::byte* address = buffer_.at(found[i].offset);
    (*array)[i] = {address, static_cast<std::size_t>(found[i].length), registration_.of(address)};
  }
  slot.list = {array->data(), list.count};
  slot.state = array;
  return Result::done();
}

void DirectSide::release(Slot& slot) noexcept {
  if (slot.state != nullptr) arrays_.give(static_cast<SegmentArray*>(slot.state), direction_);
  slot = {};
}

}  // namespace lath::transport
