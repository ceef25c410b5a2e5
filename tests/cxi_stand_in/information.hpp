#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace lath::cxi_stand_in {

/// fi_getinfo() of the stand-in: what cxi offers, as far as it fits the hints.
int information(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                const fi_info* hints, fi_info** result);

/// The tcp endpoints that carry the data: within this node. Null where libfabric offers none. Owned by the
/// stand-in.
[[nodiscard]] fi_info* carrier_information();

}  // namespace lath::cxi_stand_in
