#pragma once

#include <string>
#include <vector>

namespace lath::cli {

/// A process that has ended.
struct Finished {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
};

/// Runs the `lath` command (environment variable COMMAND_UNDER_TEST of the test) with arguments, and with
/// `environment`
/// ("NAME=value") on top of this process' own.
Finished lath(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

/// Runs any program, found through PATH.
Finished run(const std::vector<std::string>& command, const std::vector<std::string>& environment = {});

/// The `lath` command's path.
std::string command_path();

}  // namespace lath::cli
