#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lath::providers::ofi {

/// What an address tells a peer: whose it is, and where.
struct Address {
  std::string provider;             ///< libfabric's own provider name, which both sides must share
  std::uint64_t node = 0;           ///< node_identity() there
  std::int64_t process = 0;         ///< the process id on that machine
  std::vector<std::byte> endpoint;  ///< libfabric's address of the endpoint
};

[[nodiscard]] std::vector<std::byte> encode(const Address& address);
/// Throws Error(invalid_argument) that says what is wrong with the bytes.
[[nodiscard]] Address decode(std::span<const std::byte> bytes);

}  // namespace lath::providers::ofi
