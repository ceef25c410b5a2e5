#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "providers/ofi/handles.hpp"

namespace lath::providers::ofi {

/// What is asked of libfabric beyond messages and tagged messages.
struct Wish {
  bool rma = true;
  bool device_memory = false;
};

/// The candidates that libfabric offers here, best first: "ofi:tcp". Real fabrics come first, then what works
/// between nodes, then what works within one; deprecated and unreliable ones last or not at all. A layered
/// "tcp;ofi_rxm" goes by its core's name. Throws nothing; empty where libfabric is missing or offers nothing.
[[nodiscard]] std::vector<std::string> candidates();

/// Every way to open a candidate ("ofi:tcp", or the layered "ofi:tcp;ofi_rxm" for exactly that), best first:
/// an endpoint of the core's own before a layered one, a network interface before the loop-back one.
[[nodiscard]] std::vector<Info> offers(std::string_view candidate, const Wish& wish);

}  // namespace lath::providers::ofi
