#include "providers/verbs/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"

namespace lath::providers::verbs {
namespace {

constexpr std::uint32_t magic = 0x3142564c;  // "LVB1"

/// The address as it travels. Processors of both sides share their byte order: the magic number tells.
struct Encoded {
  std::uint32_t magic;
  std::uint8_t link_layer, mtu;
  std::uint16_t lid;
  std::uint64_t node;
  std::int64_t process;
  std::uint64_t worker;
  std::array<std::uint8_t, 16> gid;
  std::uint32_t datagrams, key;
};
static_assert(sizeof(Encoded) == address_bytes);

}  // namespace

bool Address::global() const noexcept {
  return std::any_of(std::begin(gid.raw), std::end(gid.raw), [](std::uint8_t byte) { return byte != 0; });
}

std::vector<std::byte> encode(const Address& address) {
  Encoded encoded{magic,           address.link_layer, address.mtu, address.lid,       address.node,
                  address.process, address.worker,     {},          address.datagrams, address.key};
  std::copy(std::begin(address.gid.raw), std::end(address.gid.raw), encoded.gid.begin());
  std::vector<std::byte> bytes(sizeof encoded);
  std::memcpy(bytes.data(), &encoded, sizeof encoded);
  return bytes;
}

Address decode(std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(Encoded))
    throw Error(Code::invalid_argument, fmt::format("an address of a verbs provider has {} bytes, not {}",
                                                    sizeof(Encoded), bytes.size()));
  Encoded encoded;
  std::memcpy(&encoded, bytes.data(), sizeof encoded);
  if (encoded.magic != magic)
    throw Error(Code::invalid_argument, "the address is not one of a verbs provider of this version");
  if (encoded.mtu < IBV_MTU_256 || encoded.mtu > IBV_MTU_4096)
    throw Error(Code::invalid_argument, fmt::format("the address has MTU number {}", encoded.mtu));
  if (encoded.datagrams == 0 || encoded.datagrams > last_queue_pair)
    throw Error(Code::invalid_argument, fmt::format("the address has queue pair {}", encoded.datagrams));
  Address address{.node = encoded.node,
                  .process = encoded.process,
                  .worker = encoded.worker,
                  .gid = {},
                  .datagrams = encoded.datagrams,
                  .key = encoded.key,
                  .lid = encoded.lid,
                  .link_layer = encoded.link_layer,
                  .mtu = encoded.mtu};
  std::copy(encoded.gid.begin(), encoded.gid.end(), std::begin(address.gid.raw));
  if (!address.global() && address.lid == 0)
    throw Error(Code::invalid_argument, "the address has neither GID nor LID");
  return address;
}

std::string printable(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (!address.global() ||
      inet_ntop(AF_INET6, static_cast<const void*>(address.gid.raw), text.data(), text.size()) == nullptr)
    return fmt::format("LID {} (process {}, queue pair {})", address.lid, address.process, address.datagrams);
  return fmt::format("{} (process {}, queue pair {})", text.data(), address.process, address.datagrams);
}

}  // namespace lath::providers::verbs
