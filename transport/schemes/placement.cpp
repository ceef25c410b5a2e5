#include "transport/schemes/placement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "datatypes/cursor.hpp"
#include "gpu/device.hpp"

namespace lath::transport {
namespace {

constexpr std::int64_t few_segments = 64;
constexpr std::uintptr_t page = 4096;

/// Puts the answers for a buffer's bytes together.
class Survey {
 public:
  void look(const void* address) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (!knows(at)) ask(at);
  }
  /// Whether the first allocation met holds everything between.
  [[nodiscard]] bool first_allocation_holds(const void* first, const void* last) const noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    return known_[0].begin <= begin && reinterpret_cast<std::uintptr_t>(last) < known_[0].end &&
           known_count_ == 1;
  }
  [[nodiscard]] SchemeFactory::Placement placement() const noexcept {
    const bool device = device_ >= 0;
    return {.memory = device ? providers::MemoryKind::device : providers::MemoryKind::host,
            .mixed = device && (host_ || several_devices_),
            .device = device_};
  }

 private:
  struct Span {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };

  [[nodiscard]] bool knows(std::uintptr_t at) const noexcept {
    return std::any_of(known_.begin(), known_.end(),
                       [at](const Span& span) { return at >= span.begin && at < span.end; });
  }
  void ask(std::uintptr_t at) noexcept {
    const gpu::MemoryInfo info = gpu::memory_info(reinterpret_cast<const void*>(at));
    if (info.kind == gpu::MemoryKind::device) {
      several_devices_ |= device_ >= 0 && device_ != info.device;
      if (device_ < 0) device_ = info.device;
    } else {
      host_ = true;
    }
    Span span{at & ~(page - 1), (at & ~(page - 1)) + page};
    // Host and device memory never share a page, so the rest of the page is known, too.
    if (info.bytes > 0) span = {info.base, info.base + info.bytes};
    known_[known_count_ % known_.size()] = span;
    ++known_count_;
  }

  std::array<Span, 16> known_{};
  std::size_t known_count_ = 0;
  int device_ = -1;
  bool host_ = false;
  bool several_devices_ = false;
};

}  // namespace

SchemeFactory::Placement place(const Buffer& buffer) noexcept {
  const Layout& layout = buffer.layout;
  if (layout.bytes() == 0 || !gpu::availability().available) return {};
  const std::byte* first = buffer.at(layout.lowest());
  const std::byte* last = buffer.at(layout.highest() - 1);
  Survey survey;
  survey.look(first);
  if (survey.first_allocation_holds(first, last)) return survey.placement();
  if (buffer.address != nullptr && layout.segment_count() > few_segments) {
    survey.look(last);
    return survey.placement();
  }
  // A segment is a piece of one allocation: its first byte tells.
  for (Cursor cursor(layout); !cursor.at_end();) survey.look(buffer.at(cursor.next().offset));
  return survey.placement();
}

}  // namespace lath::transport
