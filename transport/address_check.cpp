#include "transport/address_check.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "datatypes/cursor.hpp"
#include "gpu/device.hpp"

namespace lath::transport {
namespace {

constexpr std::uintptr_t first_address = 64 * 1024;
constexpr unsigned page_bits = 12;  // real pages may be larger, which only makes more of them

std::uintptr_t address_of(const Data& data, std::int64_t offset) noexcept {
  return reinterpret_cast<std::uintptr_t>(data.address) + static_cast<std::uintptr_t>(offset);
}

// Both give the kernel an address that it must access for us, and look for EFAULT; a load or store would end
// the process instead. Systems that forbid a call are taken to say yes.

// An operation that does not exist is refused only after its signal mask has been read.
bool can_read(std::uintptr_t address) noexcept {
  const std::uintptr_t aligned = address & ~std::uintptr_t{7};
  return syscall(SYS_rt_sigprocmask, ~0, aligned, nullptr, 8) == 0 || errno != EFAULT;
}

// Adds 0 to a word, atomically, so that nobody who writes there can lose anything.
bool can_write(std::uintptr_t address) noexcept {
  static int nobody_waits = 0;
  const std::uintptr_t aligned = address & ~std::uintptr_t{3};
  const auto add_nothing = static_cast<unsigned>(FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));
  return syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, nullptr, aligned,
                 add_nothing) >= 0 ||
         errno != EFAULT;
}

bool can(Access access, std::uintptr_t address) noexcept {
  return access == Access::write ? can_write(address) : can_read(address);
}

std::uintptr_t page_begin(std::uintptr_t address) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return address / page * page;
}

bool has_gap(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const std::uintptr_t first = page_begin(begin);
  // MS_ASYNC starts no writing; it walks the mappings and reports a gap with ENOMEM.
  return msync(reinterpret_cast<void*>(first), end - first, MS_ASYNC) != 0 && errno == ENOMEM;
}

/// What is wrong with a range, or null.
const char* wrong_with_host(std::uintptr_t begin, std::int64_t bytes, Access access) noexcept {
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(bytes);
  if (begin < first_address || end < begin || end > UINTPTR_MAX / 2) return "where no memory is mapped";
  const bool same_page = page_begin(begin) == page_begin(end - 1);
  if (!same_page && has_gap(begin, end)) return "where no memory is mapped";
  if (can(access, begin) && (same_page || can(access, end - 1))) return nullptr;
  if (access == Access::write && can_read(begin) && can_read(end - 1))
    return "where memory may not be written";
  return "where no memory can be accessed";
}

/// The same of a range in host or device memory. `host` is set where it is good host memory.
const char* wrong_with(std::uintptr_t begin, std::int64_t bytes, Access access, bool& host) noexcept {
  const char* wrong = wrong_with_host(begin, bytes, access);
  host = wrong == nullptr;
  if (host || !gpu::availability().available) return wrong;
  const gpu::MemoryInfo info = gpu::memory_info(reinterpret_cast<const void*>(begin));
  if (info.kind != gpu::MemoryKind::device) return wrong;
  const bool inside = static_cast<std::uint64_t>(bytes) <= info.bytes - (begin - info.base);
  return inside ? nullptr : "past the end of an allocation of device memory";
}

Result bad_address(std::uintptr_t begin, std::int64_t bytes, const char* wrong) {
  return Result::failure(Code::bad_address,
                         fmt::format("the type reaches {} bytes at {:#x}, {}; check the buffer address, the "
                                     "count and the displacements",
                                     bytes, begin, wrong));
}

/// Segment by segment, for layouts whose holes need not be there.
Result check_segments(const Data& data, Access access) noexcept {
  std::uintptr_t good_begin = 1, good_end = 0;
  for (Cursor cursor(*data.layout); !cursor.at_end();) {
    const LayoutSegment segment = cursor.next();
    const std::uintptr_t begin = address_of(data, segment.offset);
    const std::uintptr_t end = begin + static_cast<std::uintptr_t>(segment.length);
    if (begin >= good_begin && end <= good_end) continue;
    bool host = false;
    if (const char* wrong = wrong_with(begin, segment.length, access, host))
      return bad_address(begin, segment.length, wrong);
    // What shares a page with good bytes is good, but for device memory, which ends anywhere.
    good_begin = host ? begin >> page_bits << page_bits : begin;
    good_end = host ? ((end - 1) >> page_bits << page_bits) + (std::uintptr_t{1} << page_bits) : end;
  }
  return Result::done();
}

}  // namespace

MemoryCheck check_memory(const Data& data, Access access) noexcept {
  if (data.bytes == 0) return {};
  const std::int64_t lowest = data.layout ? data.layout->lowest() : 0;
  const std::int64_t span = data.layout ? data.layout->highest() - lowest : data.bytes;
  const std::uintptr_t begin = address_of(data, lowest);
  bool host = false;
  const char* wrong = wrong_with(begin, span, access, host);
  if (wrong == nullptr) return {};
  return {data.layout ? check_segments(data, access) : bad_address(begin, span, wrong), false};
}

bool is_mapped(const Data& data) noexcept {
  const std::int64_t lowest = data.layout ? data.layout->lowest() : 0;
  const std::int64_t highest = data.layout ? data.layout->highest() : data.bytes;
  return lowest == highest || !has_gap(address_of(data, lowest), address_of(data, highest));
}

namespace {

/// Layouts of more segments are remembered only where their holes are good, too.
constexpr std::int64_t most_segments = 32;
/// Longer ranges are remembered as such, others by page.
constexpr std::uintptr_t most_pages = 16;

/// Visits the pages of every segment until `visit(first, last)` answers false; whether it never did.
template <class Visit>
bool for_each_segment_pages(const Data& data, Visit visit) noexcept {
  for (Cursor cursor(*data.layout); !cursor.at_end();) {
    const LayoutSegment segment = cursor.next();
    const std::uintptr_t begin = address_of(data, segment.offset);
    if (!visit(begin >> page_bits, (begin + static_cast<std::uintptr_t>(segment.length) - 1) >> page_bits))
      return false;
  }
  return true;
}

template <class Visit>
bool for_whole_pages(const Data& data, Visit visit) noexcept {
  const std::uintptr_t begin = address_of(data, data.layout ? data.layout->lowest() : 0);
  const std::uintptr_t end = address_of(data, data.layout ? data.layout->highest() : data.bytes);
  return visit(begin >> page_bits, (end - 1) >> page_bits);
}

}  // namespace

bool KnownMemory::Known::holds(const Pages& wanted) const noexcept {
  if (wanted.last - wanted.first >= most_pages)
    return ranges[(wanted.first ^ (wanted.last << 1)) % ranges.size()] == wanted;
  for (std::uintptr_t page = wanted.first; page <= wanted.last; ++page)
    if (pages[page % pages.size()] != page) return false;
  return true;
}

void KnownMemory::Known::add(const Pages& good) noexcept {
  if (good.last - good.first >= most_pages) {
    ranges[(good.first ^ (good.last << 1)) % ranges.size()] = good;
    return;
  }
  for (std::uintptr_t page = good.first; page <= good.last; ++page) pages[page % pages.size()] = page;
}

bool KnownMemory::holds(const Data& data, Access access) const noexcept {
  if (data.bytes == 0) return true;
  const Known& known = known_[static_cast<std::size_t>(access)];
  const auto held = [&](std::uintptr_t first, std::uintptr_t last) { return known.holds({first, last}); };
  if (for_whole_pages(data, held)) return true;
  return data.layout && data.layout->segment_count() <= most_segments && for_each_segment_pages(data, held);
}

void KnownMemory::add(const Data& data, Access access, bool whole) noexcept {
  if (data.bytes == 0) return;
  Known& known = known_[static_cast<std::size_t>(access)];
  const auto add = [&](std::uintptr_t first, std::uintptr_t last) {
    known.add({first, last});
    return true;
  };
  if (whole)
    for_whole_pages(data, add);
  else if (data.layout->segment_count() <= most_segments)
    for_each_segment_pages(data, add);
}

}  // namespace lath::transport
