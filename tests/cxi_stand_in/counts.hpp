#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

/// What the stand-in has seen in this process, for tests.
extern "C" {

struct lath_cxi_stand_in_counts {
  std::uint64_t operations;         ///< sends, tagged sends, writes and reads that were accepted
  std::uint64_t injects;            ///< of those, injected ones
  std::uint64_t writes;             ///< of those, RMA writes
  std::uint64_t device_operations;  ///< of those, operations out of or into device memory
  std::uint64_t doorbells;
  std::uint64_t batches;  ///< doorbells for two operations or more, held back by FI_MORE
  std::uint64_t registrations;
  std::uint64_t optimised;    ///< registrations with a key of 0 to 99 that the application chose
  std::uint64_t completions;  ///< entries read from completion queues
  std::uint64_t again;        ///< posts refused as the queue asked for was full
  std::uint64_t refusals;     ///< calls that broke a rule of cxi
  std::uint64_t transmit_size, receive_size, completion_size;  ///< asked for by the latest endpoint
  std::uint64_t ordered_writes;                                ///< 1 where that asked for FI_ORDER_RMA_WAW
  std::uint64_t flushes;  ///< operations with FI_DELIVERY_COMPLETE, each of which cxi ends with a read
};

/// Fills `counts`. Thread safe.
void lath_cxi_stand_in_read_counts(lath_cxi_stand_in_counts* counts);
}

namespace lath::cxi_stand_in {

/// All zero where the stand-in is not loaded in this process.
inline lath_cxi_stand_in_counts counts() {
  lath_cxi_stand_in_counts counts{};
  void* const library = dlopen("libcxi-fi.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return counts;
  const auto read = reinterpret_cast<decltype(&lath_cxi_stand_in_read_counts)>(
      dlsym(library, "lath_cxi_stand_in_read_counts"));
  if (read != nullptr) read(&counts);
  dlclose(library);
  return counts;
}

}  // namespace lath::cxi_stand_in
