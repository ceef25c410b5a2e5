#pragma once

#include <cstddef>

namespace lath::cxi_stand_in {

/// Where the NIC finds memory that an operation names.
struct Place {
  void* address = nullptr;  ///< what carries the data: the pages' accessible mapping for device memory
  bool device = false;
  bool lost = false;  ///< device addresses that are of no single allocation: no NIC can map them
};

/// Looks at the address as cxi does, which asks the GPU's driver and ignores what the caller says of it.
[[nodiscard]] Place place_of(const void* address, std::size_t bytes);

}  // namespace lath::cxi_stand_in
