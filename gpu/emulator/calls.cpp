#include "gpu/emulator/calls.hpp"

#include <array>

#include "gpu/emulator/process.hpp"
#include "gpu/emulator/settings.hpp"

namespace lath::gpu::emulator {
namespace {

constexpr auto entry_count = static_cast<std::size_t>(Entry::count);

constexpr std::array<std::string_view, entry_count> names{
#define LATH_EMULATOR_NAME(kind, symbol, ...) #symbol,
    LATH_DRIVER_CALLS(LATH_EMULATOR_NAME)
#undef LATH_EMULATOR_NAME
};

std::array<EntryState, entry_count> states;

struct Call {
  Entry entry = Entry::count;
  std::uint64_t number = 0;
};
thread_local Call last_call;

bool works_before_init(Entry entry) {
  return entry == Entry::cuInit || entry == Entry::cuDriverGetVersion || entry == Entry::cuGetErrorName ||
         entry == Entry::cuGetErrorString;
}

}  // namespace

EntryState* find_entry(std::string_view name) noexcept {
  for (std::size_t i = 0; i < entry_count; ++i)
    if (names[i] == name) return &states[i];
  return nullptr;
}

CUresult enter(Entry entry) noexcept {
  if (entry == Entry::cuInit) settings();
  auto& state = states[static_cast<std::size_t>(entry)];
  const auto number = state.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  last_call = {entry, number};
  if (number >= state.fail_from.load(std::memory_order_acquire) &&
      number < state.fail_to.load(std::memory_order_relaxed))
    return state.fail_code.load(std::memory_order_relaxed);
  if (!works_before_init(entry) && !usable()) return CUDA_ERROR_NOT_INITIALIZED;
  return CUDA_SUCCESS;
}

bool shall_corrupt() noexcept {
  const auto& state = states[static_cast<std::size_t>(last_call.entry)];
  return last_call.number >= state.corrupt_from.load(std::memory_order_acquire) &&
         last_call.number < state.corrupt_to.load(std::memory_order_relaxed);
}

bool copies(const EntryState& entry) noexcept {
  for (const auto copying :
       {Entry::cuMemcpy, Entry::cuMemcpyHtoD_v2, Entry::cuMemcpyDtoH_v2, Entry::cuMemcpyAsync})
    if (&entry == &states[static_cast<std::size_t>(copying)]) return true;
  return false;
}

}  // namespace lath::gpu::emulator
