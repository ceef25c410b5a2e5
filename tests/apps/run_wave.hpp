#pragma once

#include <string>

namespace lath::wave {

struct WaveRun {
  int status = 0;      ///< the exit status; 128 + signal for a death by signal
  std::string output;  ///< standard output and error together

  /// What follows "checksum: "; empty where there is none.
  [[nodiscard]] std::string checksum() const;
  /// Without the newline.
  [[nodiscard]] std::string last_line() const;
};

/// Runs lath-wave, `launcher` before it on the command line, through the shell.
[[nodiscard]] WaveRun run_wave(const std::string& arguments, const std::string& launcher = "");

}  // namespace lath::wave
