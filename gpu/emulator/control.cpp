#include "gpu/emulator/control.hpp"

#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"
#include "gpu/emulator/settings.hpp"

using namespace lath::gpu;

#define LATH_EMULATOR_EXPORT __attribute__((visibility("default")))

extern "C" {

LATH_EMULATOR_EXPORT void* lath_emulator_alias(const void* pointer, std::size_t bytes) {
  if (!emulator::usable()) return nullptr;
  auto& memory = emulator::process().memory;
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  const auto found = memory.find_pages(address);
  if (!found || bytes > found->region.bytes - (address - found->region.begin)) return nullptr;
  return reinterpret_cast<void*>(address + static_cast<std::uintptr_t>(memory.window().shift));
}

LATH_EMULATOR_EXPORT int lath_emulator_fail(const char* function, std::uint64_t nth, std::uint64_t count,
                                            int code) {
  auto* const entry = emulator::find_entry(function);
  if (entry == nullptr) return -1;
  const auto from = entry->calls.load() + nth;
  entry->fail_to = 0;
  entry->fail_code = static_cast<CUresult>(code);
  entry->fail_from = from;
  entry->fail_to = count > UINT64_MAX - from ? UINT64_MAX : from + count;
  return 0;
}

LATH_EMULATOR_EXPORT int lath_emulator_corrupt(const char* function, std::uint64_t nth, std::uint64_t count) {
  auto* const entry = emulator::find_entry(function);
  if (entry == nullptr || !emulator::copies(*entry)) return -1;
  const auto from = entry->calls.load() + nth;
  entry->corrupt_to = 0;
  entry->corrupt_from = from;
  entry->corrupt_to = count > UINT64_MAX - from ? UINT64_MAX : from + count;
  return 0;
}

LATH_EMULATOR_EXPORT void lath_emulator_set_delay(std::uint64_t microseconds, std::uint64_t seed) {
  emulator::set_delay(microseconds, seed);
}

LATH_EMULATOR_EXPORT void lath_emulator_set_faithful(int faithful) {
  emulator::set_faithful(faithful != 0);
}

LATH_EMULATOR_EXPORT std::uint64_t lath_emulator_calls(const char* function) {
  const auto* const entry = emulator::find_entry(function);
  return entry == nullptr ? 0 : entry->calls.load();
}

LATH_EMULATOR_EXPORT const char* lath_emulator_problem(void) {
  return emulator::settings().problem.c_str();
}

LATH_EMULATOR_EXPORT void lath_emulator_window(EmulatedWindow* window) {
  *window = emulator::usable() ? emulator::process().memory.window() : EmulatedWindow{};
}
}
