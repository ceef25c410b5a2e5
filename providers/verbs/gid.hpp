#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <span>

namespace lath::providers::verbs {

/// One entry of a port's GID table.
struct GidEntry {
  std::uint8_t index = 0;
  ibv_gid gid{};
  bool routable = false;  ///< RoCE v2; false for RoCE v1 and InfiniBand
};

/// The entry to use on Ethernet: RoCE v2 before v1, an IPv4 address before a global IPv6 one before a
/// link-local one, the lowest index among equals. Nothing where no entry is filled.
[[nodiscard]] std::optional<GidEntry> choose_gid(std::span<const GidEntry> table);

}  // namespace lath::providers::verbs
