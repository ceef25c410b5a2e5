#include "providers/verbs/memory.hpp"

#include "providers/verbs/device_memory.hpp"
#include "providers/verbs/failure.hpp"

namespace lath::providers::verbs {
namespace {

// Reading for sends is always granted. Remote writing implies local writing.
int access_bits(bool writable, bool remote) {
  int bits = writable ? IBV_ACCESS_LOCAL_WRITE : 0;
  if (remote) bits |= IBV_ACCESS_REMOTE_READ | (writable ? IBV_ACCESS_REMOTE_WRITE : 0);
  return bits;
}

}  // namespace

RegisteredMemory::RegisteredMemory(const Device& device, void* address, std::size_t length, MemoryKind kind,
                                   bool writable, bool remote)
    : address_(address) {
  const int access = access_bits(writable, remote);
  if (kind == MemoryKind::device) {
    region_ = register_device_memory(device_memory_calls(device), address, length, access).region;
    return;
  }
  // In parentheses: the name without them is a macro that may call a newer entry.
  region_.reset(
      check_object((library()->reg_mr)(device.domain.get(), address, length, access), "ibv_reg_mr"));
}

}  // namespace lath::providers::verbs
