#pragma once

#include <string>
#include <string_view>

#include "apps/wave/problem.hpp"

namespace lath::wave {

/// Reads a problem from a TOML file (docs/wave.md lists the keys). Throws Error(parse) that names the file,
/// the line and the key, and Error(invalid_argument) where the file cannot be read.
[[nodiscard]] Problem read_problem(const std::string& path);

/// The same from text; `name` stands for the file in messages.
[[nodiscard]] Problem parse_problem(std::string_view text, const std::string& name);

}  // namespace lath::wave
