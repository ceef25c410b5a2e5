#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "gpu/device.hpp"
#include "providers/provider.hpp"
#include "providers/unmapped_ranges.hpp"

namespace lath::providers {

/// Registrations kept for use again. Device memory is registered by whole allocation and kept for as long as
/// the allocation's buffer id is the same: an address alone proves nothing, since freed memory comes back at
/// the same place. Host memory has no such id: its registrations are kept where somebody tells which pages
/// have changed, and elsewhere shared while in use and then dropped. What is in use is never dropped; what is
/// not goes, least recently used first, to keep within the bounds. Same thread rules as its provider.
class RegistrationCache {
 private:
  struct Entry;
  using Entries = std::list<Entry>;

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
  /// `unmapped`: tells which host pages have changed, and outlives the cache; null where nobody does.
  RegistrationCache(Provider& provider, const Bounds& bounds, UnmappedRanges* unmapped = nullptr);

  /// A registration for local use that covers [address, address + length), of memory that `info` describes
  /// now. Kept host memory is registered by whole pages, and together with what is registered of the same
  /// pages already. Empty with the reason in `why` where the provider refuses, also after all that is not in
  /// use was dropped.
  [[nodiscard]] Pin pin(void* address, std::size_t length, const gpu::MemoryInfo& info, bool writable,
                        std::unique_ptr<Error>& why) noexcept;

  /// Drops all that is not in use.
  void clear() noexcept;
  /// Drops what lies in pages that have changed; what is in use goes when it is given back.
  void drop_unmapped() noexcept;

  [[nodiscard]] std::size_t entries() const noexcept { return unused_.size() + used_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t hits() const noexcept { return hits_; }

 private:
  using Found = std::optional<Entries::iterator>;
  enum class IfRefused : std::uint8_t { give_up, drop_unused_and_repeat };
  using Index = std::map<std::uintptr_t, Entries::iterator>;  ///< by first address; ranges are disjoint
  struct Wanted {
    AddressRange range;
    std::uint64_t buffer_id = 0;  ///< 0 for host memory
    bool writable = false;
    [[nodiscard]] bool is_device() const noexcept { return buffer_id != 0; }
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };
  struct Entry {
    Wanted made;
    std::unique_ptr<Registration> registration;
    std::size_t pins = 0;
    bool retired = false;  ///< in no index: not handed out again
  };

  template <class Use>
  static void for_each_overlapping(Index& index, AddressRange range, const Use& use);
  [[nodiscard]] Index& index_of(const Wanted& wanted) noexcept {
    return wanted.writable ? writable_ : readable_;
  }
  Found find(const Wanted& wanted) noexcept;
  [[nodiscard]] Wanted grown(const Wanted& least) noexcept;
  std::unique_ptr<Registration> registered(const Wanted& wanted, IfRefused then, std::unique_ptr<Error>& why);
  Found add(const Wanted& wanted, IfRefused then, std::unique_ptr<Error>& why);
  Found add_host(Wanted wanted, std::unique_ptr<Error>& why);
  Found find_or_add(const Wanted& wanted, const gpu::MemoryInfo& info, std::unique_ptr<Error>& why);
  void use(Entries::iterator entry) noexcept;
  void give_back(Entries::iterator entry) noexcept;
  void retire(Entries::iterator entry) noexcept;
  void retire_host(AddressRange range) noexcept;
  void drop(Entries::iterator entry) noexcept;
  void keep_within_bounds() noexcept;

  Provider& provider_;
  Bounds bounds_;
  UnmappedRanges* unmapped_;
  std::uintptr_t page_;
  Index writable_;
  Index readable_;  ///< for reading only
  Entries unused_;  ///< least recently used first
  Entries used_;
  std::size_t bytes_ = 0;
  std::uint64_t hits_ = 0;
};

}  // namespace lath::providers
