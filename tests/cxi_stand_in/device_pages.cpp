#include "tests/cxi_stand_in/device_pages.hpp"

#include <dlfcn.h>

#include <atomic>

#include "gpu/emulator/control.hpp"

namespace lath::cxi_stand_in {
namespace {

struct Emulator {
  decltype(&lath_emulator_alias) alias = nullptr;
  decltype(&lath_emulator_window) window = nullptr;
};

// The emulator may be loaded after this library, so it is looked for until it is there; then it stays.
const Emulator* emulator() {
  static std::atomic<const Emulator*> found{nullptr};
  if (const Emulator* known = found.load(std::memory_order_acquire)) return known;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  static Emulator instance;
  instance.alias = reinterpret_cast<decltype(&lath_emulator_alias)>(dlsym(library, "lath_emulator_alias"));
  instance.window = reinterpret_cast<decltype(&lath_emulator_window)>(dlsym(library, "lath_emulator_window"));
  if (instance.alias == nullptr || instance.window == nullptr) return nullptr;
  found.store(&instance, std::memory_order_release);
  return &instance;
}

}  // namespace

Place place_of(const void* address, std::size_t bytes) {
  Place place{.address = const_cast<void*>(address)};
  const Emulator* const gpu = address != nullptr ? emulator() : nullptr;
  if (gpu == nullptr) return place;
  gpu::EmulatedWindow window{};
  gpu->window(&window);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at < window.begin || at >= window.end) return place;
  place.device = true;
  place.address = gpu->alias(address, bytes);
  place.lost = place.address == nullptr;
  return place;
}

}  // namespace lath::cxi_stand_in
