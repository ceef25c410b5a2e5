#pragma once

#include <array>
#include <cstdint>

#include "base/result.hpp"
#include "transport/request.hpp"

namespace lath::transport {

/// What is going to be done with a buffer's memory.
enum class Access : std::uint8_t { read, write };

/// What check_memory() found.
struct MemoryCheck {
  Result result = Result::done();
  bool whole = true;  ///< the holes between the buffer's bytes are as good as the bytes
};

/// Whether every byte that a buffer reaches is there, and may be read or written: host memory by asking the
/// kernel for the whole range and, where that has holes, segment by segment; device memory by the bounds of
/// its allocation. Of a range of host memory without holes only the ends are tried for access. Some system
/// calls. The error is Code::bad_address and names the first bad bytes.
[[nodiscard]] MemoryCheck check_memory(const Data& data, Access access) noexcept;

/// Whether the whole range that a buffer in host memory spans is mapped, with whatever access. One system
/// call.
[[nodiscard]] bool is_mapped(const Data& data) noexcept;

/// Host memory that check_memory() found good, so that the next message from there need not ask. Memory that
/// is unmapped or protected later is still taken for good. Look-ups make no system call. One thread at a
/// time.
class KnownMemory {
 public:
  [[nodiscard]] bool holds(const Data& data, Access access) const noexcept;
  /// `whole` as check_memory() said.
  void add(const Data& data, Access access, bool whole) noexcept;

 private:
  /// Numbers of the first and the last page.
  struct Pages {
    std::uintptr_t first = 1, last = 0;
    friend bool operator==(const Pages&, const Pages&) = default;
  };
  struct Known {
    Known() { pages.fill(UINTPTR_MAX); }
    std::array<std::uintptr_t, 256> pages;
    std::array<Pages, 64> ranges{};
    [[nodiscard]] bool holds(const Pages& pages) const noexcept;
    void add(const Pages& pages) noexcept;
  };

  std::array<Known, 2> known_{};  ///< by Access
};

}  // namespace lath::transport
