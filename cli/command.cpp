#include "cli/command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <limits>

#include "base/decimal.hpp"
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

/// The parser's own reading of numbers takes 010 for octal, and the largest number for what does not fit.
CLI::Option* add_number(CLI::App& command, const std::string& name, std::int64_t& number, std::int64_t least,
                        const std::string& meaning) {
  const auto read = [&number, name, least](const std::string& text) {
    const std::optional<std::int64_t> read = decimal(text);
    if (!read || *read < least)
      throw CLI::ValidationError(
          name, fmt::format("'{}' is not a whole number from {} to {}, in decimal digits", text, least,
                            std::numeric_limits<std::int64_t>::max()));
    number = *read;
  };
  auto* option = command.add_option_function<std::string>(name, read, meaning)->type_name("NUMBER");
  return number < least ? option : option->default_str(std::to_string(number));
}

CLI::Option* add_seconds(CLI::App& command, double& seconds, const std::string& meaning) {
  constexpr double most = 86400.0;
  const auto read = [&seconds, most](const std::string& text) {
    const char* const end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, seconds);
    if (problem != std::errc{} || rest != end || !(seconds > 0.0 && seconds <= most))
      throw CLI::ValidationError(
          "--seconds", fmt::format("'{}' is not a number of seconds above 0, at most {}", text, most));
  };
  return command.add_option_function<std::string>("--seconds", read, meaning)
      ->type_name("SECONDS")
      ->default_str(fmt::format("{:g}", seconds));
}

}  // namespace lath::cli
