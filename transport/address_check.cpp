#include "transport/address_check.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "datatypes/cursor.hpp"
#include "gpu/device.hpp"

namespace lath::transport {
namespace {

constexpr std::uintptr_t first_address = 64 * 1024;

Result bad_address(std::uintptr_t begin, std::int64_t bytes) {
  return Result::failure(Code::bad_address,
                         fmt::format("the type reaches {} bytes at {:#x}, where no memory is mapped; check "
                                     "the buffer address, the count and the displacements",
                                     bytes, begin));
}

std::uintptr_t address_of(const Data& data, std::int64_t offset) noexcept {
  return reinterpret_cast<std::uintptr_t>(data.address) + static_cast<std::uintptr_t>(offset);
}

// Reads two bytes of our own memory by a system call, which answers where a load would end the process.
// Systems that forbid the call are taken to say yes.
bool can_read(std::uintptr_t first, std::uintptr_t last) noexcept {
  char bytes[2] = {};
  const iovec to{bytes, 2};
  const iovec from[2] = {{reinterpret_cast<void*>(first), 1}, {reinterpret_cast<void*>(last), 1}};
  const ssize_t read = process_vm_readv(getpid(), &to, 1, from, 2, 0);
  return read == 2 || (read < 0 && errno != EFAULT);
}

// msync with MS_ASYNC starts no writing; it walks the mappings and reports a gap with ENOMEM.
bool is_mapped(std::uintptr_t begin, std::int64_t bytes) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(bytes);
  const std::uintptr_t first = begin / page * page;
  if (end < begin) return false;
  if (msync(reinterpret_cast<void*>(first), end - first, MS_ASYNC) != 0 && errno == ENOMEM) return false;
  return can_read(begin, end - 1);
}

bool is_device(std::uintptr_t address) noexcept {
  return gpu::availability().available &&
         gpu::memory_info(reinterpret_cast<const void*>(address)).kind == gpu::MemoryKind::device;
}

}  // namespace

Result check_plausible(const Data& data) noexcept {
  if (data.bytes == 0) return Result::done();
  const std::int64_t lowest = data.layout ? data.layout->lowest() : 0;
  const std::uintptr_t begin = address_of(data, lowest);
  if (begin >= first_address && begin <= UINTPTR_MAX / 2) return Result::done();
  return bad_address(begin, data.layout ? data.layout->highest() - lowest : data.bytes);
}

Result check_mapped(const Data& data) noexcept {
  Result plausible = check_plausible(data);
  if (data.bytes == 0 || !plausible.is_done()) return plausible;
  const std::int64_t lowest = data.layout ? data.layout->lowest() : 0;
  const std::int64_t highest = data.layout ? data.layout->highest() : data.bytes;
  const std::uintptr_t begin = address_of(data, lowest);
  if (is_mapped(begin, highest - lowest)) return Result::done();
  if (!data.layout) return is_device(begin) ? Result::done() : bad_address(begin, data.bytes);
  std::array<LayoutSegment, 256> segments;
  for (PackedRange range{0, data.bytes}; range.begin < range.end;) {
    const SegmentList list = list_segments(*data.layout, range, segments);
    for (std::size_t i = 0; i < list.count; ++i) {
      const std::uintptr_t at = address_of(data, segments[i].offset);
      if (!is_mapped(at, segments[i].length) && !is_device(at)) return bad_address(at, segments[i].length);
    }
    range.begin += list.bytes;
  }
  return Result::done();
}

}  // namespace lath::transport
