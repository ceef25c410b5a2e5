#pragma once

#include <cstdint>
#include <string>

namespace lath::gpu::emulator {

/// What the LATH_EMULATOR_* variables ask for. LATH_EMULATOR_FAIL and _CORRUPT go straight to the entry
/// points' states.
struct Settings {
  std::string problem;  ///< the variable, its value and what is expected; where not empty, cuInit fails
  int devices = 1;
  std::uint64_t delay_microseconds = 0;
  bool faithful = false;
};

/// Read from the environment at the first cuInit. Thread safe.
const Settings& settings();

}  // namespace lath::gpu::emulator
