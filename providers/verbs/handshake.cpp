#include "providers/verbs/handshake.hpp"

#include <cstring>

#include "base/error.hpp"

namespace lath::providers::verbs {
namespace {

constexpr std::uint32_t magic = 0x3148564c;  // "LVH1"

struct Encoded {
  std::uint32_t magic;
  std::uint8_t kind, established, reads_in, unused;
  std::uint64_t to, epoch, echo;
  std::array<std::uint32_t, lane_count> numbers, first_packets;
  std::array<std::byte, address_bytes> from;
};
static_assert(sizeof(Encoded) <= handshake_bytes);

}  // namespace

HandshakeBytes encode(const Handshake& handshake) {
  Encoded encoded{};
  encoded.magic = magic;
  encoded.kind = static_cast<std::uint8_t>(handshake.kind);
  encoded.established = handshake.established ? 1 : 0;
  encoded.reads_in = handshake.reads_in;
  encoded.to = handshake.to;
  encoded.epoch = handshake.epoch;
  encoded.echo = handshake.echo;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    encoded.numbers[lane] = handshake.lanes[lane].number;
    encoded.first_packets[lane] = handshake.lanes[lane].first_packet;
  }
  const std::vector<std::byte> from = encode(handshake.from);
  std::memcpy(encoded.from.data(), from.data(), from.size());
  HandshakeBytes bytes{};
  std::memcpy(bytes.data(), &encoded, sizeof encoded);
  return bytes;
}

std::optional<Handshake> decode_handshake(std::span<const std::byte> bytes) {
  if (bytes.size() != handshake_bytes) return std::nullopt;
  Encoded encoded;
  std::memcpy(&encoded, bytes.data(), sizeof encoded);
  Handshake handshake;
  handshake.kind = static_cast<Handshake::Kind>(encoded.kind);
  if (encoded.magic != magic || (encoded.kind != 1 && encoded.kind != 2)) return std::nullopt;
  try {
    handshake.from = decode(encoded.from);
  } catch (const Error&) {
    return std::nullopt;
  }
  handshake.established = encoded.established != 0;
  handshake.reads_in = encoded.reads_in;
  handshake.to = encoded.to;
  handshake.epoch = encoded.epoch;
  handshake.echo = encoded.echo;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    handshake.lanes[lane] = {encoded.numbers[lane], encoded.first_packets[lane]};
    const bool possible = encoded.numbers[lane] != 0 && encoded.numbers[lane] <= last_queue_pair;
    if (handshake.kind == Handshake::Kind::join && !possible) return std::nullopt;
  }
  if (handshake.kind == Handshake::Kind::join && handshake.epoch == 0) return std::nullopt;
  return handshake;
}

}  // namespace lath::providers::verbs
