#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lath::cli {

/// What this binary was compiled by and with, as (what, answer).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> build_options();

}  // namespace lath::cli
