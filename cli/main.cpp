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
/// Without the program's name, last first, as the parser takes them. `help bench` is `bench --help`.
std::vector<std::string> words_to_parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return {words.rbegin(), words.rend()};
}

  try {
    app.parse(words_to_parse(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? lath::cli::success : lath::cli::wrong_usage;
  }
  return run(action);
}
  app.add_subcommand("help", "Print this help, or that of the subcommand named after it");
