#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "benchmarks/pingpong.hpp"

namespace lath::benchmarks {

/// A table for people.
[[nodiscard]] std::string as_text(const PingpongOptions& options, const PingpongReport& report);

/// For programs, of a report with results: `results` has an entry a scheme, `summary` and `counters` are
/// those of the first (docs/benchmarks.md).
[[nodiscard]] nlohmann::ordered_json as_json(const PingpongOptions& options, const PingpongReport& report);

[[nodiscard]] nlohmann::ordered_json as_json(const Quartiles& quartiles);

}  // namespace lath::benchmarks
