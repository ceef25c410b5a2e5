#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "providers/provider.hpp"

namespace lath::providers {

/// One way that a provider folder offers: "ofi:tcp", with why it cannot be used here or what it grants.
struct Candidate {
  std::string name;
  bool viable = false;
  std::string reason;  ///< where not viable: what failed, in the failing library's words
  Limits limits;       ///< where viable
  std::size_t memory_bytes = 0;
};

/// A provider folder's entry: its name, its candidates without opening them, and open().
struct Family {
  std::string_view name;                     ///< "ofi"
  std::vector<std::string> (*candidates)();  ///< best first; empty where the library is missing
  /// Opens one and proves it by a loop-back transfer. Throws Error with the reason.
  std::unique_ptr<Provider> (*open)(std::string_view candidate);
};

/// The families built in, best first.
[[nodiscard]] const std::vector<Family>& families();

/// Opens `wanted` ("ofi:tcp", "ofi", or "" for LATH_PROVIDER, or else the first that works). A named
/// candidate that fails throws its reason; a family or "" goes on to the next best, with a log line. Throws
/// Error(not_supported) that lists every reason where none works.
std::unique_ptr<Provider> open(std::string_view wanted = {});

/// Opens and closes every candidate: what `lath info` prints.
std::vector<Candidate> probe_all();

}  // namespace lath::providers
