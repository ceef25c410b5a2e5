#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "gpu/device.hpp"
#include "providers/provider.hpp"
#include "providers/unmapped_ranges.hpp"

namespace lath::providers {

/// Registrations kept for use again. Device memory is registered by whole allocation and kept after use, for
/// as long as the allocation's buffer id is the same: an address alone proves nothing, since freed memory
/// comes back at the same place. Host memory has no such id: its registrations are kept where the cache hears
/// of what is unmapped, else shared while in use and then dropped. Kept ones are of whole pages, and those
/// that overlap become one, so that an array's pieces soon share one. What is in use is never dropped; what
/// is not goes, least recently used first, to keep within the bounds. Same thread rules as its provider.
class RegistrationCache {
 private:
  struct Entry;
  using Entries = std::multimap<std::uintptr_t, Entry>;  ///< by first address

 public:
  /// The bounds on what is kept; more is held only while it is in use.
  struct Bounds {
    std::size_t entries = 1024;
    std::size_t bytes = std::size_t{1} << 40;
  };

  /// A registration in use; gives it back to the cache when destroyed, which must come before the cache's
  /// end.
  class Pin {
   public:
    Pin() noexcept = default;
    Pin(Pin&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)), entry_(other.entry_) {}
    Pin& operator=(Pin&& other) noexcept;
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    ~Pin() { release(); }

    [[nodiscard]] explicit operator bool() const noexcept { return cache_ != nullptr; }
    [[nodiscard]] const Registration* registration() const noexcept;
    void release() noexcept;

   private:
    friend class RegistrationCache;
    Pin(RegistrationCache& cache, Entries::iterator entry) noexcept : cache_(&cache), entry_(entry) {}

    RegistrationCache* cache_ = nullptr;
    Entries::iterator entry_;
  };

  explicit RegistrationCache(Provider& provider) : RegistrationCache(provider, Bounds()) {}
  RegistrationCache(Provider& provider, const Bounds& bounds) : provider_(provider), bounds_(bounds) {}
  /// `unmapped`: where host ranges that are unmapped are told, before they are; null: nowhere. It must
  /// outlive the cache.
  RegistrationCache(Provider& provider, const Bounds& bounds, UnmappedRanges* unmapped)
      : provider_(provider), bounds_(bounds), unmapped_(unmapped) {}

  /// A registration for local use that covers [address, address + length), of memory that `info` describes
  /// now. Empty with the reason in `why` where the provider refuses, also after all that is not in use was
  /// dropped.
  [[nodiscard]] Pin pin(void* address, std::size_t length, const gpu::MemoryInfo& info, bool writable,
                        std::unique_ptr<Error>& why) noexcept;

  /// Drops all that is not in use.
  void clear() noexcept;

  [[nodiscard]] std::size_t entries() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t hits() const noexcept { return hits_; }

 private:
  using Order = std::list<Entries::iterator>;
  struct Entry {
    std::size_t length = 0;
    std::uint64_t buffer_id = 0;  ///< 0 for host memory
    bool writable = false;
    bool stale = false;  ///< its memory is unmapped: goes with its last pin
    std::unique_ptr<Registration> registration;
    std::size_t pins = 0;
    Order::iterator place;  ///< in unused_ where pins is 0, else in used_
  };

  Entries::iterator find(std::uintptr_t begin, std::uintptr_t end, std::uint64_t buffer_id,
                         bool writable) noexcept;
  Entries::iterator add(void* address, std::size_t length, MemoryKind kind, std::uint64_t buffer_id,
                        bool writable, std::unique_ptr<Error>& why);
  Pin pin_kept_host(std::uintptr_t begin, std::uintptr_t end, bool writable, std::unique_ptr<Error>& why);
  void forget_unmapped() noexcept;
  void forget(AddressRange range) noexcept;
  [[nodiscard]] bool overlaps(const Entries::value_type& entry, const AddressRange& range) const noexcept {
    return entry.first < range.end && entry.first + entry.second.length > range.begin;
  }
  void use(Entries::iterator entry) noexcept;
  void give_back(Entries::iterator entry) noexcept;
  void drop(Entries::iterator entry) noexcept;
  void keep_within_bounds() noexcept;

  Provider& provider_;
  Bounds bounds_;
  UnmappedRanges* unmapped_ = nullptr;
  Entries entries_;
  Order unused_;  ///< least recently used first
  Order used_;
  std::size_t bytes_ = 0;
  std::size_t longest_ = 0;  ///< of any entry so far: how far before an address an entry over it may begin
  std::uint64_t hits_ = 0;
};

}  // namespace lath::providers
