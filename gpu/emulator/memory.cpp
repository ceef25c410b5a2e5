#include "gpu/emulator/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>

namespace lath::gpu::emulator {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

bool in_window(Allocated how) {
  return how == Allocated::device || how == Allocated::pool || how == Allocated::imported;
}

CUdeviceptr host_pages(std::size_t bytes) {
  void* const pages = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? 0 : static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pages));
}

int new_file(std::size_t bytes) {
  const int file = memfd_create("lath-emulated-device-memory", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

}  // namespace

CUresult Memory::map_pages(Allocation& allocation, std::size_t bytes) {
  allocation.region.bytes = bytes;
  if (!window_.map(allocation.region)) {
    close(allocation.region.file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  // Aligned as far as real device memory is, and no further: nothing may count on pages.
  allocation.base = allocation.region.begin + alignment;
  return CUDA_SUCCESS;
}

CUresult Memory::allocate(Allocated how, std::size_t bytes, int device, CUdeviceptr& out) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > device_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard lock(mutex_);
  Allocation made;
  made.bytes = bytes;
  made.how = how;
  made.device = device;
  if (in_window(how)) {
    if (used_[device] + bytes > device_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
    const auto pages = whole_pages(bytes + alignment);
    made.region.file = new_file(pages);
    if (made.region.file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
    if (const auto code = map_pages(made, pages); code != CUDA_SUCCESS) return code;
    used_[device] += bytes;
  } else {
    made.base = host_pages(bytes);
    if (made.base == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  made.id = ++last_id_;
  allocations_.emplace(made.base, made);
  out = made.base;
  return CUDA_SUCCESS;
}

void Memory::drop(const Allocation& allocation) {
  if (in_window(allocation.how)) {
    window_.unmap(allocation.region);
    close(allocation.region.file);
    if (allocation.how != Allocated::imported) used_[allocation.device] -= allocation.bytes;
  } else {
    munmap(reinterpret_cast<void*>(allocation.base), whole_pages(allocation.bytes));
  }
  allocations_.erase(allocation.base);
}

CUresult Memory::release(CUdeviceptr pointer, bool host) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(pointer);
  if (found == allocations_.end() || found->second.how == Allocated::imported ||
      (found->second.how == Allocated::pinned) != host)
    return CUDA_ERROR_INVALID_VALUE;
  drop(Allocation(found->second));
  return CUDA_SUCCESS;
}

CUresult Memory::import(int file, std::uint64_t file_number, std::size_t bytes, int device,
                        CUdeviceptr& out) {
  const std::lock_guard lock(mutex_);
  for (auto& [base, allocation] : allocations_) {
    if (allocation.how != Allocated::imported || allocation.import_of != file_number) continue;
    close(file);
    ++allocation.imports;
    out = base;
    return CUDA_SUCCESS;
  }
  Allocation made;
  made.bytes = bytes;
  made.how = Allocated::imported;
  made.device = device;
  made.region.file = file;
  made.import_of = file_number;
  made.imports = 1;
  if (map_pages(made, whole_pages(bytes + alignment)) != CUDA_SUCCESS) return CUDA_ERROR_MAP_FAILED;
  made.id = ++last_id_;
  allocations_.emplace(made.base, made);
  out = made.base;
  return CUDA_SUCCESS;
}

CUresult Memory::close_import(CUdeviceptr pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(pointer);
  if (found == allocations_.end() || found->second.how != Allocated::imported)
    return CUDA_ERROR_INVALID_VALUE;
  if (--found->second.imports == 0) drop(Allocation(found->second));
  return CUDA_SUCCESS;
}

const Allocation* Memory::at(CUdeviceptr pointer) const {
  const auto after = allocations_.upper_bound(pointer);
  if (after == allocations_.begin()) return nullptr;
  const auto& candidate = std::prev(after)->second;
  return pointer - candidate.base < candidate.bytes ? &candidate : nullptr;
}

std::optional<Allocation> Memory::find(CUdeviceptr pointer) {
  const std::lock_guard lock(mutex_);
  const auto* const found = at(pointer);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Allocation> Memory::find_pages(CUdeviceptr pointer) {
  const std::lock_guard lock(mutex_);
  if (!window_.contains(pointer)) return std::nullopt;
  const auto after = allocations_.upper_bound(pointer + alignment);
  if (after == allocations_.begin()) return std::nullopt;
  const auto& candidate = std::prev(after)->second;
  if (pointer - candidate.region.begin >= candidate.region.bytes) return std::nullopt;
  return candidate;
}

bool Memory::reach(CUdeviceptr pointer, std::size_t bytes, Reach& out) {
  const std::lock_guard lock(mutex_);
  const auto* const found = at(pointer);
  if (found != nullptr && bytes > found->bytes - (pointer - found->base)) return false;
  if (found == nullptr && window_.contains(pointer)) return false;
  out.pageable = found == nullptr;
  out.address = window_.contains(pointer) ? window_.accessible(pointer) : reinterpret_cast<char*>(pointer);
  return pointer != 0;
}

std::size_t Memory::used(int device) {
  const std::lock_guard lock(mutex_);
  return used_[device];
}

}  // namespace lath::gpu::emulator
