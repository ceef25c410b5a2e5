#include "gpu/emulator/window.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace lath::gpu::emulator {
namespace {

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

void reserve(std::uintptr_t address, std::size_t length) {
  // MAP_FIXED over a range of our own: there is nothing to do where even that fails.
  static_cast<void>(
      mmap(at(address), length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

Window::Window() {
  void* const both = mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (both == MAP_FAILED) throw std::bad_alloc();
  madvise(both, 2 * bytes, MADV_DONTDUMP);
  view_.begin = reinterpret_cast<std::uintptr_t>(both);
  view_.end = view_.begin + bytes;
  view_.shift = static_cast<std::intptr_t>(bytes);
  free_.emplace(view_.begin, bytes);
}

bool Window::map(Region& region) {
  // A page is left unmapped after each region, so that a kernel that runs over its end faults.
  const std::size_t needed = region.bytes + page_bytes();
  const auto found =
      std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.second >= needed; });
  if (found == free_.end()) return false;
  region.begin = found->first;
  void* const accessible_at = accessible(region.begin);
  if (mmap(at(region.begin), region.bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, region.file, 0) == MAP_FAILED ||
      mmap(accessible_at, region.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, region.file, 0) ==
          MAP_FAILED) {
    reserve(region.begin, region.bytes);
    return false;
  }
  const std::size_t left = found->second - needed;
  free_.erase(found);
  if (left != 0) free_.emplace(region.begin + needed, left);
  return true;
}

void Window::unmap(const Region& region) {
  reserve(region.begin, region.bytes);
  reserve(reinterpret_cast<std::uintptr_t>(accessible(region.begin)), region.bytes);
  auto here = free_.emplace(region.begin, region.bytes + page_bytes()).first;
  if (const auto next = std::next(here); next != free_.end() && here->first + here->second == next->first) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here == free_.begin()) return;
  if (const auto before = std::prev(here); before->first + before->second == here->first) {
    before->second += here->second;
    free_.erase(here);
  }
}

}  // namespace lath::gpu::emulator
