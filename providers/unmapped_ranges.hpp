#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lath::providers {

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  ///< one past the last byte

  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// Ranges of addresses whose pages have changed, on their way from whoever changes them to one owner. add()
/// runs inside munmap() and free(), on any thread: it takes no lock, allocates nothing and never waits. The
/// place is fixed; what does not fit is lost, and the owner is told.
class UnmappedRanges {
 public:
  static constexpr std::size_t capacity = 1024;

  /// Any thread.
  void add(AddressRange range) noexcept {
    const std::uint64_t number = added_.fetch_add(1, std::memory_order_acq_rel);
    Slot& slot = slots_[number % capacity];
    // Someone a whole round behind is still writing here. Its number will stand in the slot, not this one, by
    // which the owner sees that this range is lost.
    if (slot.number.exchange(being_written, std::memory_order_acq_rel) == being_written) return;
    slot.begin.store(range.begin, std::memory_order_release);
    slot.end.store(range.end, std::memory_order_release);
    slot.number.store(number + 1, std::memory_order_release);
  }

  /// The owner: whether nothing was added since the last take_all().
  [[nodiscard]] bool empty() const noexcept { return added_.load(std::memory_order_acquire) == taken_; }

  /// The owner: hands every range added since the last call to `use`. False where some were lost: then
  /// anything may have changed.
  template <class Use>
  bool take_all(const Use& use) {
    const std::uint64_t added = added_.load(std::memory_order_acquire);
    bool complete = added - taken_ <= capacity;
    if (!complete) taken_ = added;
    for (; taken_ != added; ++taken_) {
      const Slot& slot = slots_[taken_ % capacity];
      const std::uint64_t before = slot.number.load(std::memory_order_acquire);
      // Whoever sees a later writer's bounds sees its number, too.
      const AddressRange range{slot.begin.load(std::memory_order_acquire),
                               slot.end.load(std::memory_order_acquire)};
      const bool whole = before == taken_ + 1 && slot.number.load(std::memory_order_relaxed) == before;
      if (whole) use(range);
      complete &= whole;
    }
    return complete;
  }

 private:
  static constexpr std::uint64_t being_written = UINT64_MAX;
  struct Slot {
    std::atomic<std::uint64_t> number{0};  ///< of the range here, from 1
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};
  };

  std::array<Slot, capacity> slots_{};
  std::atomic<std::uint64_t> added_{0};
  std::uint64_t taken_ = 0;  ///< the owner's
};

}  // namespace lath::providers
