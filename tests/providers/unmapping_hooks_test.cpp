#include "providers/unmapping_hooks.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#ifdef LATH_HAVE_UCM
#include <ucm/api/ucm.h>
#endif
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "providers/registration_cache.hpp"
#include "tests/providers/stub_provider.hpp"

namespace lath::providers {
namespace {

constexpr std::size_t bytes = std::size_t{1} << 20;

class UnmappingHook : public testing::Test {
 protected:
  void SetUp() override {
    if (!unmapping_hooks().installed) GTEST_SKIP() << unmapping_hooks().reason;
    listener = UnmappingListener::listen();
    ASSERT_NE(listener.ranges(), nullptr);
  }
  static char* map() {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return static_cast<char*>(memory);
  }
  /// Whether every byte of the range was told since the last call, or ranges were lost.
  bool told(const void* begin, std::size_t length) {
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    bool found = false;
    const bool complete = listener.ranges()->take_all([&](const AddressRange& range) {
      found = found || (range.begin <= first && range.end >= first + length);
    });
    return found || !complete;
  }

  UnmappingListener listener;
};

TEST_F(UnmappingHook, Munmap) {
  char* memory = map();
  (void)told(memory, 1);
  EXPECT_FALSE(told(memory, 1));
  munmap(memory, bytes);
  EXPECT_TRUE(told(memory, bytes));
}

TEST_F(UnmappingHook, MapFixedOverIt) {
  char* memory = map();
  (void)told(memory, 1);
  ASSERT_EQ(mmap(memory, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), memory);
  EXPECT_TRUE(told(memory, bytes));
  munmap(memory, bytes);
}

TEST_F(UnmappingHook, MremapThatMoves) {
  char* memory = map();
  (void)told(memory, 1);
  void* moved = mremap(memory, bytes, 64 * bytes, MREMAP_MAYMOVE);
  ASSERT_NE(moved, MAP_FAILED);
  EXPECT_TRUE(told(memory, bytes));
  munmap(moved, 64 * bytes);
}

TEST_F(UnmappingHook, MadviseThatDropsPages) {
  char* memory = map();
  (void)told(memory, 1);
  madvise(memory, bytes, MADV_DONTNEED);
  EXPECT_TRUE(told(memory, bytes));
  munmap(memory, bytes);
}

TEST_F(UnmappingHook, FreeOfALargeBlock) {
  void* volatile block = std::malloc(64 * bytes);
  (void)told(block, 1);
  std::free(block);
  const auto inside = (reinterpret_cast<std::uintptr_t>(block) + bytes) & ~std::uintptr_t{4095};
  unsigned char resident = 0;
  if (mincore(reinterpret_cast<void*>(inside), 4096, &resident) == 0)
    GTEST_SKIP() << "the malloc in use keeps what is freed";
  EXPECT_TRUE(told(block, 63 * bytes));
}

TEST_F(UnmappingHook, TheHeapsEnd) {
  auto* end = static_cast<char*>(sbrk(static_cast<std::intptr_t>(bytes)));
  ASSERT_NE(end, reinterpret_cast<char*>(-1));
  (void)told(end, 1);
  ASSERT_NE(sbrk(-static_cast<std::intptr_t>(bytes)), reinterpret_cast<void*>(-1));
  EXPECT_TRUE(told(end, bytes));
}

TEST_F(UnmappingHook, MappingIsToldToo) {
  void* place = map();
  munmap(place, bytes);
  (void)told(place, 1);
  void* again = mmap(place, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_TRUE(told(again, bytes));
  munmap(again, bytes);
}

TEST_F(UnmappingHook, InAForkedChild) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char* memory = map();
    (void)told(memory, 1);
    munmap(memory, bytes);
    _exit(told(memory, bytes) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

constexpr std::array fatal_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGHUP, SIGTERM};

std::vector<sighandler_t> signal_handlers() {
  std::vector<sighandler_t> handlers;
  for (const int number : fatal_signals) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    handlers.push_back(now.sa_handler);
  }
  return handlers;
}

/// Before main(), and so before the hooks: whoever started this process may have it ignore some.
const std::vector<sighandler_t> handlers_at_start = signal_handlers();

TEST_F(UnmappingHook, FatalSignalsDoWhatTheyDidBefore) {
  EXPECT_EQ(signal_handlers(), handlers_at_start);
}

TEST_F(UnmappingHook, BL36_AHostBufferMappedAgainIsRegisteredAgain) {
  StubNetwork network;
  const auto provider = network.attach();
  RegistrationCache cache(*provider, {}, listener.ranges());
  std::unique_ptr<Error> why;
  mallopt(M_MMAP_THRESHOLD, bytes);  // so that free() unmaps
  for (std::uint64_t round = 1; round <= 100; ++round) {
    void* volatile memory = std::malloc(4 * bytes);
    for (int message = 0; message < 3; ++message) ASSERT_TRUE(cache.pin(memory, 4 * bytes, {}, true, why));
    EXPECT_EQ(provider->counters().registrations, round);
    std::free(memory);
  }
}

#ifdef LATH_HAVE_UCM
std::atomic<int> heard_by_another{0};
void count_unmapping(ucm_event_type_t, ucm_event_t*, void*) {
  ++heard_by_another;
}

// An MPI over UCX, say.
TEST_F(UnmappingHook, BesideAnotherUserOfLibucm) {
  void* library = dlopen("libucm.so.0", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto set =
      reinterpret_cast<decltype(&ucm_set_event_handler)>(dlsym(library, "ucm_set_event_handler"));
  const auto unset =
      reinterpret_cast<decltype(&ucm_unset_event_handler)>(dlsym(library, "ucm_unset_event_handler"));
  ASSERT_EQ(set(UCM_EVENT_VM_UNMAPPED, 1000, count_unmapping, nullptr), UCS_OK);
  char* memory = map();
  (void)told(memory, 1);
  heard_by_another = 0;
  munmap(memory, bytes);
  EXPECT_TRUE(told(memory, bytes));
  EXPECT_EQ(heard_by_another, 1);
  unset(UCM_EVENT_VM_UNMAPPED, count_unmapping, nullptr);
  memory = map();
  (void)told(memory, 1);
  munmap(memory, bytes);
  EXPECT_TRUE(told(memory, bytes)) << "the other's end took our hooks away";
  EXPECT_EQ(heard_by_another, 1);
}
#endif

TEST_F(UnmappingHook, ShmdtOfSystemV) {
  const int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
  if (id < 0) GTEST_SKIP() << "no System V shared memory here";
  void* memory = shmat(id, nullptr, 0);
  shmctl(id, IPC_RMID, nullptr);
  (void)told(memory, 1);
  shmdt(memory);
  EXPECT_TRUE(told(memory, bytes));
}

TEST_F(UnmappingHook, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<char*> memories(64);
  for (char*& memory : memories) memory = map();
  (void)told(memories[0], 1);
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < memories.size(); i += 4) munmap(memories[i], bytes);
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<bool> found(memories.size());
  const bool complete = listener.ranges()->take_all([&](const AddressRange& range) {
    for (std::size_t i = 0; i < memories.size(); ++i)
      if (range.begin == reinterpret_cast<std::uintptr_t>(memories[i])) found[i] = true;
  });
  for (const bool one : found) EXPECT_TRUE(one || !complete);
}

TEST_F(UnmappingHook, PlacesAreGivenBack) {
  for (int i = 0; i < 1000; ++i) ASSERT_NE(UnmappingListener::listen().ranges(), nullptr);
}

TEST(UnmappedRanges, OverflowIsTold) {
  UnmappedRanges ranges;
  for (std::uintptr_t i = 0; i < UnmappedRanges::capacity; ++i) ranges.add({i, i + 1});
  std::size_t taken = 0;
  EXPECT_TRUE(ranges.take_all([&](const AddressRange&) { ++taken; }));
  EXPECT_EQ(taken, UnmappedRanges::capacity);
  EXPECT_TRUE(ranges.empty());
  for (std::uintptr_t i = 0; i <= UnmappedRanges::capacity; ++i) ranges.add({i, i + 1});
  EXPECT_FALSE(ranges.take_all([](const AddressRange&) {}));
  EXPECT_TRUE(ranges.take_all([](const AddressRange&) {}));
}

}  // namespace
}  // namespace lath::providers
