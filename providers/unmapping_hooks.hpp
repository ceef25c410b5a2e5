#pragma once

#include <string>
#include <utility>

#include "providers/unmapped_ranges.hpp"

namespace lath::providers {

/// Whether this process learns when its memory is unmapped, mapped over, moved or given back by madvise(),
/// also by free(), from the hooks of UCX's libucm. It is loaded at first use and stays, with whoever contains
/// this; every user of it shares the hooks. That they see munmap() and this process' allocator is tried
/// out. Not seen are system calls past the C library, and files cut short under a mapping. `reason` says why
/// not installed.
struct UnmappingHooks {
  bool installed = false;
  std::string reason;
};
[[nodiscard]] const UnmappingHooks& unmapping_hooks();

/// One listener's ranges: filled from the hooks while it lives. The places are few and fixed, since a hook
/// may still run when its listener goes. Move-only; empty where there are no hooks or no place is free.
class UnmappingListener {
 public:
  UnmappingListener() = default;
  UnmappingListener(UnmappingListener&& other) noexcept : ranges_(std::exchange(other.ranges_, nullptr)) {}
  UnmappingListener& operator=(UnmappingListener&& other) noexcept;
  UnmappingListener(const UnmappingListener&) = delete;
  UnmappingListener& operator=(const UnmappingListener&) = delete;
  ~UnmappingListener();

  /// Installs the hooks where that has not been done.
  [[nodiscard]] static UnmappingListener listen();

  [[nodiscard]] UnmappedRanges* ranges() const noexcept { return ranges_; }

 private:
  UnmappedRanges* ranges_ = nullptr;
};

}  // namespace lath::providers
