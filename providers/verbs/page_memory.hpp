#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace lath::providers::verbs {

/// Zeroed memory in pages of its own. What is registered shares no page with anything else: where the kernel
/// keeps registered pages from a forked child, the child loses nothing that it may want. Move-only.
class PageMemory {
 public:
  /// Throws std::bad_alloc.
  explicit PageMemory(std::size_t bytes) : bytes_(bytes) {
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(pages);
  }
  PageMemory(PageMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;
  PageMemory& operator=(PageMemory&&) = delete;
  ~PageMemory() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace lath::providers::verbs
