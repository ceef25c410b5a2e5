#include <cstring>

#include "gpu/stream.hpp"
#include "tests/providers/stub_state.hpp"

namespace lath::providers {

void stub_copy(void* to, MemoryKind to_kind, const void* from, MemoryKind from_kind, std::size_t bytes) {
  if (bytes == 0) return;
  if (to_kind == MemoryKind::host && from_kind == MemoryKind::host) {
    std::memcpy(to, from, bytes);
    return;
  }
  Result result = gpu::copy_and_wait(to, from, bytes);
  if (result.is_error()) throw *result.take_error();
}

}  // namespace lath::providers
