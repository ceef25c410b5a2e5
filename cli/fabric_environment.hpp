#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lath::cli {

/// A setting of libfabric's that is known to hurt.
struct FabricWarning {
  std::string variable;
  std::string value;
  std::string reason;  ///< what it does, and what to do instead
};

/// Looks through what is set. `get` gives a variable's value, null where it is not set (std::getenv).
/// `keeps_registrations`: Lath hears of unmapped memory by hooks of its own, and keeps registrations by that.
[[nodiscard]] std::vector<FabricWarning> fabric_warnings(const std::function<const char*(const char*)>& get,
                                                         bool keeps_registrations);

}  // namespace lath::cli
