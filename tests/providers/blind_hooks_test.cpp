#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "providers/unmapping_hooks.hpp"

/// A process whose malloc() unmaps by system calls of its own, as some allocators do: no hook sees that, so
/// host registrations must not be kept.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);

// One large block at a time is enough here.
constexpr std::size_t large = std::size_t{32} << 20;
void* large_block = nullptr;
std::size_t large_bytes = 0;

void* malloc(std::size_t bytes) {
  if (bytes < large || large_block != nullptr) return __libc_malloc(bytes);
  large_bytes = bytes;
  large_block = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return large_block;
}

void free(void* block) {
  if (block == nullptr || block != large_block) return __libc_free(block);
  large_block = nullptr;
  syscall(SYS_munmap, block, large_bytes);
}
}

int main() {
  const lath::providers::UnmappingHooks& hooks = lath::providers::unmapping_hooks();
  std::printf("%s\n", hooks.installed ? "installed" : hooks.reason.c_str());
  if (hooks.installed) return 1;
  constexpr int skipped = 77;
  return hooks.reason.find("unmaps past") != std::string::npos ? 0 : skipped;
}
