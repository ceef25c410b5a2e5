#pragma once

#include <cstdint>

namespace lath::gpu::emulator {

/// What the LATH_EMULATOR_* variables ask for. LATH_EMULATOR_FAIL goes straight to the entry points' states.
struct Settings {
  bool valid = true;  ///< else the reason was written to standard error, and cuInit fails
  int devices = 1;
  std::uint64_t delay_microseconds = 0;
  bool faithful = false;
};

/// Read from the environment at the first cuInit. Thread safe.
const Settings& settings();

}  // namespace lath::gpu::emulator
