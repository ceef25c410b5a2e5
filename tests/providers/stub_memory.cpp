#include <cstring>

#include "tests/providers/stub_state.hpp"

namespace lath::providers {

void stub_copy(void* to, MemoryKind to_kind, const void* from, MemoryKind from_kind, std::size_t bytes) {
  if (bytes == 0) return;
  if (to_kind == MemoryKind::device || from_kind == MemoryKind::device)
    throw Error(Code::not_device_ready, "the stub was built without device memory");
  std::memcpy(to, from, bytes);
}

}  // namespace lath::providers
