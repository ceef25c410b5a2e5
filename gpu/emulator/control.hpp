#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/kernel.hpp"

/// The emulator's own functions, beside the driver's: found with driver_symbol() by those names, for tests in
/// the same process and for stand-ins of hardware that reads device memory. All are thread safe.
/// docs/emulator.md tells the same settings as environment variables.
extern "C" {

/// The accessible address of device memory [pointer, pointer + bytes): null unless that lies in one
/// allocation's pages. Stands for what a peer-memory driver does for a NIC. The address serves until the
/// memory is freed.
void* lath_emulator_alias(const void* pointer, std::size_t bytes);

/// Makes calls of a driver function fail: `count` of them, beginning with the nth from now (1: the next),
/// with a CUresult. count 0 takes an earlier order back. -1 where there is no such function.
int lath_emulator_fail(const char* function, std::uint64_t nth, std::uint64_t count, int code);

/// Makes calls of a copying function (cuMemcpy, cuMemcpyHtoD_v2, cuMemcpyDtoH_v2, cuMemcpyAsync) add 1 to the
/// first byte that they have copied: `count` of them, beginning with the nth from now. count 0 takes an
/// earlier order back. -1 where the function does not copy.
int lath_emulator_corrupt(const char* function, std::uint64_t nth, std::uint64_t count);

/// Delays every later stream operation by a random time up to `microseconds`; the sequence depends on `seed`.
void lath_emulator_set_delay(std::uint64_t microseconds, std::uint64_t seed);

/// Whether launches run every thread of the grid one by one (1), or the body once over all work (0).
void lath_emulator_set_faithful(int faithful);

/// Calls of one driver function so far, refused ones included; 0 for an unknown name.
std::uint64_t lath_emulator_calls(const char* function);

/// Why cuInit refuses the LATH_EMULATOR_* variables: names the variable, its value and what is expected; ""
/// where it does not. Valid as long as the library is loaded.
const char* lath_emulator_problem(void);

/// Device memory's addresses and the shift to their accessible mapping.
void lath_emulator_window(lath::gpu::EmulatedWindow* window);
}
