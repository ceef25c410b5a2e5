#include "cli/command.hpp"

#include <cerrno>
#include <cstdio>

#include "base/error.hpp"
#include "benchmarks/patterns.hpp"

namespace lath::cli {

Datatype read_type(const std::string& text) {
  try {
    return benchmarks::pattern_type(text);
  } catch (const Error& error) {
    throw WrongUsage(error.what());
  }
}

Layout read_layout(const Datatype& type, std::int64_t count) {
  try {
    return Layout::of(type, count);
  } catch (const Error& error) {
    throw WrongUsage(error.what());
  }
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw Error(Domain::system, errno, "writing to standard output");
}

CLI::Validator not_negative() {
  const auto check = [](std::string& text) {
    return text.starts_with('-') ? "must not be negative, but is " + text : std::string();
  };
  return {check, "COUNT", "not negative"};
}

}  // namespace lath::cli
