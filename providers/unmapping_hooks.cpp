#include "providers/unmapping_hooks.hpp"

#ifdef LATH_HAVE_UCM
#include <ucm/api/ucm.h>
#endif

#include <array>
#include <atomic>

#include "providers/kept_signals.hpp"
#include "providers/shared_object.hpp"

namespace lath::providers {
namespace {

struct Place {
  UnmappedRanges ranges;
  std::atomic<bool> used{false};
};

constexpr std::size_t most_listeners = 64;

std::array<Place, most_listeners>& places() {
  // Leaked on purpose: memory is unmapped until the process has ended.
  static auto* instance = new std::array<Place, most_listeners>;
  return *instance;
}

#ifdef LATH_HAVE_UCM
// Before this is set nobody listens.
std::atomic<std::array<Place, most_listeners>*> listening{nullptr};

// Runs inside munmap() and the like, on any thread.
void on_unmapped(ucm_event_type_t, ucm_event_t* event, void*) {
  auto* all = listening.load(std::memory_order_acquire);
  if (all == nullptr) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(event->vm_unmapped.address);
  for (Place& place : *all)
    if (place.used.load(std::memory_order_acquire))
      place.ranges.add({begin, begin + event->vm_unmapped.size});
}

// Below zero: before the call that unmaps.
constexpr int priority = -1000;

UnmappingHooks install() {
  const KeptSignals kept;
  UnmappingHooks hooks;
  if (dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) {
    hooks.reason = "ThreadSanitizer unmaps in threads that it has not set up yet, where no hook may run";
    return hooks;
  }
  void* library = nullptr;
  // The first has functions that the second uses without naming it.
  for (const char* name : {"libucs.so.0", "libucm.so.0"}) {
    library = load_shared_object(name, RTLD_GLOBAL, hooks.reason);
    if (library == nullptr) return hooks;
  }
  const auto set =
      reinterpret_cast<decltype(&ucm_set_event_handler)>(dlsym(library, "ucm_set_event_handler"));
  if (set == nullptr) {
    hooks.reason = "libucm.so.0 has no ucm_set_event_handler";
    return hooks;
  }
  listening.store(&places(), std::memory_order_release);
  if (set(UCM_EVENT_VM_UNMAPPED, priority, on_unmapped, nullptr) != UCS_OK) {
    hooks.reason = "libucm cannot hook this process' memory calls";
    return hooks;
  }
  hooks.installed = true;
  return hooks;
}
#else
UnmappingHooks install() {
  return {false, "this build was made without the headers of libucm (UCX)"};
}
#endif

}  // namespace

const UnmappingHooks& unmapping_hooks() {
  static const UnmappingHooks hooks = install();
  return hooks;
}

UnmappingListener& UnmappingListener::operator=(UnmappingListener&& other) noexcept {
  std::swap(ranges_, other.ranges_);
  return *this;
}

UnmappingListener::~UnmappingListener() {
  if (ranges_ == nullptr) return;
  for (Place& place : places())
    if (&place.ranges == ranges_) place.used.store(false, std::memory_order_release);
}

UnmappingListener UnmappingListener::listen() {
  UnmappingListener listener;
  if (!unmapping_hooks().installed) return listener;
  for (Place& place : places()) {
    bool free = false;
    if (!place.used.compare_exchange_strong(free, true, std::memory_order_acq_rel)) continue;
    listener.ranges_ = &place.ranges;
    // What an earlier listener left.
    place.ranges.take_all([](const AddressRange&) {});
    break;
  }
  return listener;
}

}  // namespace lath::providers
