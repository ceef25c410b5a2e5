#pragma once

#include <optional>
#include <string>

#include "apps/wave/array_order.hpp"
#include "apps/wave/processor.hpp"

namespace lath::wave {

enum class Transport : std::uint8_t { lath, mpi };

/// What the command line asks for.
struct Options {
  std::string file;
  Transport exchange = Transport::lath;
  Memory memory = Memory::host;
  Order order = Order::c;
  std::string scheme;  ///< empty: chosen by Lath
  int ranks = 0;       ///< processes to start here; 0: those that the launcher started
  bool verify = false;
  bool order_test = false;
  bool quiet_files = false;  ///< write no files
};

/// What to do after reading the command line: go on with options, or end with a status.
struct CommandLine {
  Options options;
  std::optional<int> exit_status;
};

/// Prints help on standard output, and what is wrong with the arguments on standard error.
[[nodiscard]] CommandLine read_command_line(int argc, char** argv);

}  // namespace lath::wave
