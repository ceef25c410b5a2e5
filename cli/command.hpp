#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "datatypes/datatype.hpp"
#include "datatypes/layout.hpp"

/// The subcommands of `lath`. Each add_...() declares its options and, where the command line names it, puts
/// what it does into `action`.
namespace lath::cli {

/// Exit statuses of every subcommand.
inline constexpr int success = 0;
inline constexpr int failed_check = 1;
inline constexpr int wrong_usage = 2;

/// What is wrong with the command line, found after its syntax was read. Ends in wrong_usage.
class WrongUsage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs the subcommand and returns the exit status.
using Action = std::function<int()>;

void add_info(CLI::App& app, Action& action);
void add_segments(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action, const std::vector<std::string>& arguments);

/// A type-spec or a pattern's name. Throws WrongUsage with the parser's words.
[[nodiscard]] Datatype read_type(const std::string& text);
/// Throws WrongUsage for a count that the layout refuses.
[[nodiscard]] Layout read_layout(const Datatype& type, std::int64_t count);

/// An option that takes a whole number in decimal digits, `least` or more. What is anything else, or does not
/// fit 64 bits, is refused as the parser refuses what is wrong with other options.
CLI::Option* add_number(CLI::App& command, const std::string& name, std::int64_t& number, std::int64_t least,
                        const std::string& meaning);

/// The option --seconds: more than 0, at most a day.
CLI::Option* add_seconds(CLI::App& command, double& seconds, const std::string& meaning);

/// Writes to stdout; throws Error(system) where that fails (a full disk).
void print(std::string_view text);

}  // namespace lath::cli
