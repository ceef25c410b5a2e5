#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lath::providers {

/// What a worker's address tells a peer where a library has the rest: whose it is, and where.
struct EndpointAddress {
  std::string provider;      ///< the library's own name of what carries the data, which both must share
  std::uint64_t node = 0;    ///< node_identity() there
  std::int64_t process = 0;  ///< the process id on that machine
  std::vector<std::byte> endpoint;  ///< the library's address of the endpoint, at most 65535 bytes
};

[[nodiscard]] std::vector<std::byte> encode(const EndpointAddress& address);
/// Throws Error(invalid_argument) that says what is wrong with the bytes.
[[nodiscard]] EndpointAddress decode(std::span<const std::byte> bytes);

}  // namespace lath::providers
