#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

#include "gpu/cuda_api.hpp"
#include "gpu/driver_calls.hpp"

/// What every entry point does first, and the entry points' declarations, made from the one list of calls.
namespace lath::gpu {

extern "C" {
#define LATH_EMULATOR_DECLARE(kind, symbol, ...) \
  __attribute__((visibility("default"))) CUresult symbol(__VA_ARGS__);
LATH_DRIVER_CALLS(LATH_EMULATOR_DECLARE)
#undef LATH_EMULATOR_DECLARE
}

namespace emulator {

enum class Entry : std::size_t {
#define LATH_EMULATOR_ENTRY(kind, symbol, ...) symbol,
  LATH_DRIVER_CALLS(LATH_EMULATOR_ENTRY)
#undef LATH_EMULATOR_ENTRY
      count
};

/// One entry point's counter, and the calls of it, counted from 1, that shall fail: [fail_from, fail_to), or
/// shall copy wrongly: [corrupt_from, corrupt_to).
struct EntryState {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> fail_from{0};
  std::atomic<std::uint64_t> fail_to{0};
  std::atomic<CUresult> fail_code{CUDA_ERROR_UNKNOWN};
  std::atomic<std::uint64_t> corrupt_from{0};
  std::atomic<std::uint64_t> corrupt_to{0};
};

/// Null for a name that is not in the list.
EntryState* find_entry(std::string_view name) noexcept;

/// Counts the call; not CUDA_SUCCESS where it shall not be carried out: by an injected failure, before
/// cuInit, or in a child process made by fork.
CUresult enter(Entry entry) noexcept;

/// Whether the call that this thread entered last shall copy wrongly.
[[nodiscard]] bool shall_corrupt() noexcept;
/// Whether an entry point copies, so that it can be told to do so wrongly.
[[nodiscard]] bool copies(const EntryState& entry) noexcept;

/// The frame of every entry point: enter(), then the body, whose exceptions become codes.
template <class Body>
CUresult call(Entry entry, const Body& body) noexcept {
  if (const auto refused = enter(entry); refused != CUDA_SUCCESS) return refused;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace emulator
}  // namespace lath::gpu
