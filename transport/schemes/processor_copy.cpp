#include "transport/schemes/processor_copy.hpp"

#include <algorithm>

#include "datatypes/cursor.hpp"

namespace lath::transport {

Result ProcessorSource::begin(PackedRange range, Slot& slot) noexcept {
  Result taken = pools_.take(range, slot);
  if (!taken.is_done() || slot.state == nullptr) return taken;
  pack(buffer_.layout, buffer_.address, range, slot.list.front().address);
  count_passes(counters_, range, 1, true);
  return Result::done();
}

Result ProcessorSink::arrived(Slot& slot, std::int64_t bytes) noexcept {
  const std::int64_t moved = std::min(bytes, slot.range.bytes());
  if (slot.state == nullptr || moved <= 0) return Result::done();
  const PackedRange range{slot.range.begin, slot.range.begin + moved};
  unpack(buffer_.layout, buffer_.address, range, slot.list.front().address);
  count_passes(counters_, range, 1, true);
  return Result::done();
}

}  // namespace lath::transport
