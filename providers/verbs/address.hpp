#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lath::providers::verbs {

/// What a worker's address tells a peer: who it is, and where its datagram queue pair is reached.
struct Address {
  std::uint64_t node = 0;       ///< tells machines apart, and containers that number processes alone
  std::int64_t process = 0;     ///< the process id on that machine
  std::uint64_t worker = 0;     ///< random: another worker at the same place has another
  ibv_gid gid{};                ///< of the port; all zero where it is reached by LID
  std::uint32_t datagrams = 0;  ///< number of the datagram queue pair
  std::uint32_t key = 0;        ///< its Q_Key
  std::uint16_t lid = 0;        ///< of the port; 0 on Ethernet
  std::uint8_t link_layer = IBV_LINK_LAYER_UNSPECIFIED;
  std::uint8_t mtu = 0;  ///< the port's active one, as ibv_mtu

  /// Whether packets to it need a global route header.
  [[nodiscard]] bool global() const noexcept;
};

/// Numbers of queue pairs have 24 bits.
inline constexpr std::uint32_t last_queue_pair = 0xffffff;

/// Bytes of an encoded address.
inline constexpr std::size_t address_bytes = 56;

[[nodiscard]] std::vector<std::byte> encode(const Address& address);
/// Throws Error(invalid_argument) that says what is wrong with the bytes.
[[nodiscard]] Address decode(std::span<const std::byte> bytes);
/// The worker as people read it: its GID or LID, process and datagram queue pair.
[[nodiscard]] std::string printable(const Address& address);

}  // namespace lath::providers::verbs
