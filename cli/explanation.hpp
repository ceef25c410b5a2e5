#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/lengths.hpp"
#include "datatypes/datatype.hpp"
#include "datatypes/layout.hpp"
#include "transport/plan.hpp"

namespace lath::cli {

/// What is known of how one side of a message of this type would be moved here.
struct Side {
  std::vector<transport::Verdict> verdicts = {};
  transport::Scheme chosen = transport::Scheme::staged;
};

/// Everything that `lath explain` says.
struct Explanation {
  std::string type;
  std::int64_t count = 1;
  std::int64_t size = 0, lower_bound = 0, extent = 0, true_lower_bound = 0, true_extent = 0;
  Layout layout;
  LengthHistogram lengths = {};
  std::string memory;                 ///< "host" or "device"
  std::string memory_note = {};       ///< what to say of it where it cannot be had here
  std::string provider = {};          ///< empty where none works
  std::string provider_problem = {};  ///< why none works
  std::string gpu = {};               ///< the device's name, or why there is none
  std::string eager = {};  ///< how a message short enough to need no scheme travels; empty for others
  Side send = {}, receive = {};
};

[[nodiscard]] std::string as_text(const Explanation& explanation);
[[nodiscard]] nlohmann::ordered_json as_json(const Explanation& explanation);

}  // namespace lath::cli
