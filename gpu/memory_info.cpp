#include <array>
#include <optional>

#include "gpu/device.hpp"
#include "gpu/stream.hpp"

namespace lath::gpu {
namespace {

constexpr unsigned one = 1;

// Asks under some device's context: a driver that wants one current answers a thread without one so.
template <class Query>
CUresult ask(const Query& query) noexcept {
  const auto code = query();
  if (code != CUDA_ERROR_INVALID_CONTEXT) return code;
  for (int device = 0; device < availability().device_count; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (driver()->cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || active == 0)
      continue;
    const ContextGuard guard(device);
    return query();
  }
  return code;
}

struct Identity {
  CUmemorytype type{};
  std::uint64_t buffer_id = 0;
};

Identity identify(CUdeviceptr pointer) noexcept {
  Identity out;
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_BUFFER_ID};
  std::array<void*, 2> values{&out.type, &out.buffer_id};
  const auto code = ask([&] {
    return driver()->cuPointerGetAttributes(static_cast<unsigned>(attributes.size()), attributes.data(),
                                            values.data(), pointer);
  });
  return code == CUDA_SUCCESS ? out : Identity{};
}

std::optional<MemoryInfo> describe(CUdeviceptr pointer, const Identity& identity) noexcept {
  unsigned managed = 0;
  CUmemoryPool pool = nullptr;
  MemoryInfo out;
  CUdeviceptr base = 0;
  std::array attributes{CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE};
  std::array<void*, 5> values{&managed, &out.device, &base, &out.bytes, &pool};
  const auto code = ask([&] {
    return driver()->cuPointerGetAttributes(static_cast<unsigned>(attributes.size()), attributes.data(),
                                            values.data(), pointer);
  });
  if (code != CUDA_SUCCESS) return std::nullopt;
  out.base = static_cast<std::uintptr_t>(base);
  out.buffer_id = identity.buffer_id;
  out.pool = pool != nullptr;
  out.kind = managed != 0                            ? MemoryKind::managed
             : identity.type == CU_MEMORYTYPE_DEVICE ? MemoryKind::device
                                                     : MemoryKind::pinned;
  if (out.kind == MemoryKind::pinned) out.device = -1;
  return out;
}

// Copies with the NIC or another stream in between see what synchronous driver copies wrote only so. Pool and
// managed memory refuse it, which is no loss: they go through kernels.
void synchronize_copies(CUdeviceptr pointer) noexcept {
  driver()->cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pointer);
}

// Buffer ids are never given twice, so an entry found by its id cannot be stale.
struct Cache {
  std::array<MemoryInfo, 32> entries{};

  MemoryInfo& slot(std::uint64_t buffer_id) noexcept { return entries[buffer_id % entries.size()]; }
};
thread_local Cache cache;

bool covers(const MemoryInfo& entry, std::uint64_t buffer_id, CUdeviceptr pointer) noexcept {
  return entry.buffer_id == buffer_id && pointer - entry.base < entry.bytes;
}

}  // namespace

std::string_view name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::host:
      return "host";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::managed:
      return "managed";
    case MemoryKind::device:
      return "device";
  }
  return "unknown";
}

MemoryInfo memory_info(const void* address) noexcept {
  if (driver() == nullptr || address == nullptr) return {};
  const auto pointer = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(address));
  const Identity identity = identify(pointer);
  if (identity.type == CUmemorytype{} || identity.buffer_id == 0) return {};
  MemoryInfo& entry = cache.slot(identity.buffer_id);
  if (covers(entry, identity.buffer_id, pointer)) return entry;
  const auto described = describe(pointer, identity);
  if (!described) return {};
  if (described->kind == MemoryKind::device && !described->pool) synchronize_copies(pointer);
  entry = *described;
  return entry;
}

}  // namespace lath::gpu
