#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "lath/lath.h"

namespace {

int complain(const char* what) {
  std::fprintf(stderr, "lath: %s\n", what);
  return lath::cli::failed_check;
}

int run(const lath::cli::Action& action) {
  try {
    const int status = action();
    return std::fflush(stdout) == 0 ? status : complain("writing to standard output failed");
  } catch (const lath::cli::WrongUsage& error) {
    complain(error.what());
    return lath::cli::wrong_usage;
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  CLI::App app("Lath moves noncontiguous data, in GPU or host memory, between processes.", "lath");
  app.set_version_flag("--version", lath_version());
  lath::cli::Action action = []() -> int {
    throw lath::cli::WrongUsage("a subcommand is missing; lath --help and lath bench --help list them");
  };
  lath::cli::add_info(app, action);
  lath::cli::add_segments(app, action);
  lath::cli::add_explain(app, action);
  lath::cli::add_bench(app, action, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? lath::cli::success : lath::cli::wrong_usage;
  }
  return run(action);
}
