#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The registry of LATH_* environment variables. Every variable that Lath reads stands in one table
/// (config.cpp), with type, default and meaning; `lath info` prints it. Values are read from the environment
/// once, at first use of the registry, except through reload(). Look-ups are thread safe; never done on the
/// data path.
namespace lath::config {

enum class Type { text, integer, bytes, boolean, choice };

std::string_view name(Type type);

struct Variable {
  std::string_view name;  ///< "LATH_PROVIDER"
  Type type;
  std::string_view default_value;  ///< as one would write it in the environment; may be empty
  std::string_view choices;        ///< for Type::choice: "auto|emulated|none"; else empty
  std::string_view meaning;        ///< one sentence
  std::int64_t least = 0;          ///< for numbers: of the values that make sense
  std::int64_t most = INT64_MAX;   ///< likewise
};

/// All variables, in alphabetical order.
[[nodiscard]] const std::vector<Variable>& variables();

/// The value in force as text, usable or not.
[[nodiscard]] std::string value(const Variable& variable);
/// The value in force as text. Throws Error(internal) for a name that is not in the table.
[[nodiscard]] std::string text(std::string_view variable);
/// Integers take decimal digits; bytes take also the suffixes K, M, G (powers of 1024). A value that cannot
/// be read, or is out of the variable's range, throws Error(parse) that names the variable, the value and
/// what is expected.
[[nodiscard]] std::int64_t integer(std::string_view variable);
[[nodiscard]] std::int64_t bytes(std::string_view variable);
/// 1, 0, yes, no, true, false, on, off.
[[nodiscard]] bool boolean(std::string_view variable);
/// Whether the environment sets it.
[[nodiscard]] bool is_set(std::string_view variable);

/// Why the value in force cannot be used: variable, value and what is expected; empty where it can. A text
/// may be anything here: whoever uses it judges it.
[[nodiscard]] std::string problem(const Variable& variable);
/// Throws Error(parse) that says so of every variable whose value cannot be used. Programs and workers ask
/// this before anything else, so that no setting is passed over in silence.
void require_usable();

/// Reads the environment anew: for tests, before any worker exists.
void reload();

struct Unknown {
  std::string name;     ///< a LATH_* name in the environment that is not in the table
  std::string nearest;  ///< the table's name with the least edit distance
};
/// Environment variables that look like ours and are not; callers warn of them once at start.
[[nodiscard]] std::vector<Unknown> unknown();

}  // namespace lath::config
