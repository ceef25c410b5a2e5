#pragma once

#include <string>
#include <string_view>

#include "datatypes/datatype.hpp"

namespace lath {

/// Reads a type-spec such as "vector(600,400,40000,double)" (grammar: docs/type-spec.md). Spaces may stand
/// between tokens. Throws Error(parse) whose text names the column (from 1) and what was expected there, and
/// Error(invalid_argument) for arguments that the constructor refuses. Nesting is limited to 64 levels.
Datatype parse_type(std::string_view text);

/// The type-spec of a type; parse_type gives an equal type back.
std::string to_text(const Datatype& type);

}  // namespace lath
