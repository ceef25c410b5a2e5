#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datatypes/datatype.hpp"

namespace lath::benchmarks {

/// A message shape of a known application or micro-benchmark, under the name that `lath bench` takes.
struct Pattern {
  std::string_view name;
  std::string_view origin;       ///< the code whose exchange it is, one clause
  std::string_view description;  ///< the type-spec, or its shape where index lists would make it long
  Datatype (*make)();
};

/// The catalogue. Index lists are seeded random permutations without consecutive neighbours, the same on
/// every machine.
[[nodiscard]] const std::vector<Pattern>& patterns();

/// The type of a catalogue name, else of a type-spec. Throws Error(parse) as parse_type(), which for a bare
/// word also says where the names are listed.
[[nodiscard]] Datatype pattern_type(std::string_view name_or_type);

}  // namespace lath::benchmarks
