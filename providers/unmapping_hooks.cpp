#include "providers/unmapping_hooks.hpp"

#ifdef LATH_HAVE_UCM
#include <sys/mman.h>
#include <ucm/api/ucm.h>
#include <unistd.h>
#endif

#include <array>
#include <atomic>
#include <cstdlib>

#include "providers/kept_signals.hpp"
#include "providers/shared_object.hpp"
#include "providers/ucx_environment.hpp"

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

// Unmapping is told before it is done. Mapping, too, is told: a registration that another thread makes in
// between is found stale at the latest when something else is mapped there.
constexpr int events = UCM_EVENT_VM_UNMAPPED | UCM_EVENT_VM_MAPPED;

// The hooks are never taken back: libucm waits for that until no thread maps memory, which busy threads can
// put off without end. So the code that they call must stay, whoever unloads Lath.
void stay_loaded() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&on_unmapped), &self) != 0 && self.dli_fname != nullptr)
    static_cast<void>(dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

/// Empty, or why the hooks are not there.
std::string hook() {
  const KeptSignals kept;
  // Their allocators keep freed memory a while, and unmap it by system calls of their own then;
  // ThreadSanitizer unmaps in threads that it has not set up yet, where no hook may run.
  if (dlsym(RTLD_DEFAULT, "__sanitizer_get_heap_size") != nullptr ||
      dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr)
    return "a sanitizer's allocator does not tell what it unmaps";
  prepare_ucx_environment();
  void* library = nullptr;
  // The first has functions that the second uses without naming it.
  for (const char* name : {"libucs.so.0", "libucm.so.0"}) {
    std::string reason;
    library = load_shared_object(name, reason);
    if (library == nullptr) return reason;
  }
  const auto set =
      reinterpret_cast<decltype(&ucm_set_event_handler)>(dlsym(library, "ucm_set_event_handler"));
  if (set == nullptr) return "libucm.so.0 has no ucm_set_event_handler";
  stay_loaded();
  listening.store(&places(), std::memory_order_release);
  const ucs_status_t status = set(events, 0, on_unmapped, nullptr);
  if (status == UCS_OK) return {};
  return "libucm cannot hook this process' memory calls (" + std::to_string(status) +
         "); UCX_MEM_EVENTS or UCX_MEM_MMAP_HOOK_MODE may forbid it";
}

bool told(UnmappedRanges& ranges, std::uintptr_t address) {
  bool found = false;
  const bool complete = ranges.take_all(
      [&](const AddressRange& range) { found |= range.begin <= address && address < range.end; });
  return found || !complete;
}

bool see_unmapping(UnmappedRanges& ranges, std::size_t page) {
  void* memory = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  ranges.take_all([](const AddressRange&) {});
  munmap(memory, page);
  return told(ranges, reinterpret_cast<std::uintptr_t>(memory));
}

// An allocator may unmap by system calls of its own, which no hook sees.
bool see_freeing(UnmappedRanges& ranges, std::size_t page) {
  constexpr std::size_t bytes = std::size_t{64} << 20;  // more than the C library keeps
  void* volatile memory = std::malloc(bytes);
  if (memory == nullptr) return true;
  const auto middle = (reinterpret_cast<std::uintptr_t>(memory) + bytes / 2) / page * page;
  ranges.take_all([](const AddressRange&) {});
  std::free(memory);
  unsigned char resident = 0;
  return told(ranges, middle) || mincore(reinterpret_cast<void*>(middle), 1, &resident) == 0;
}

/// Empty, or what the hooks do not see.
std::string blindness() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  Place& place = places().front();  // nobody else listens yet
  place.used.store(true, std::memory_order_release);
  std::string blind;
  if (!see_unmapping(place.ranges, page))
    blind = "libucm's hooks do not see this process unmap";
  else if (!see_freeing(place.ranges, page))
    blind = "this process' allocator unmaps past libucm's hooks";
  place.used.store(false, std::memory_order_release);
  return blind;
}

UnmappingHooks install() {
  UnmappingHooks hooks;
  hooks.reason = hook();
  if (hooks.reason.empty()) hooks.reason = blindness();
  hooks.installed = hooks.reason.empty();
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
