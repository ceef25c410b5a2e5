#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/environment.hpp"
#include "lath/lath.h"

namespace {

int complain(const char* what) {
  std::fprintf(stderr, "lath: %s\n", what);
  return lath::cli::failed_check;
}

/// The status, once all output is where it belongs.
int written(int status) {
  const bool complete = std::fflush(stdout) == 0 && std::cout.flush().good();
  return complete ? status : complain("writing to standard output failed");
}

/// What the caller can mend, found only where it was used.
bool is_wrong_usage(const lath::Error& error) {
  return error.domain() == lath::Domain::lath &&
         (error.lath_code() == lath::Code::parse || error.lath_code() == lath::Code::invalid_argument);
}

/// `lath info` shows what is wrong with the environment; the others refuse it.
int run(const lath::cli::Action& action, bool any_environment) {
  try {
    if (!any_environment) lath::cli::check_environment();
    return written(action());
  } catch (const lath::cli::WrongUsage& error) {
    complain(error.what());
    return lath::cli::wrong_usage;
  } catch (const lath::Error& error) {
    complain(error.what());
    return is_wrong_usage(error) ? lath::cli::wrong_usage : lath::cli::failed_check;
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

/// Without the program's name, last first, as the parser takes them. `help bench` is `bench --help`.
std::vector<std::string> words_to_parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return {words.rbegin(), words.rend()};
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
  app.add_subcommand("help", "Print this help, or that of the subcommand named after it");
  try {
    app.parse(words_to_parse(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? written(lath::cli::success) : lath::cli::wrong_usage;
  }
  return run(action, app.got_subcommand("info"));
}
