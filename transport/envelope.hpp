#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datatypes/layout.hpp"
#include "transport/matching.hpp"
#include "transport/wire.hpp"

namespace lath::transport {

class Peer;

/// A message that has arrived and not been received: an eager one with its payload, or the announcement of
/// a rendezvous one.
struct Envelope : Arrival {
  Peer* peer = nullptr;
  std::byte* payload = nullptr;  ///< of an eager message with data
  std::int64_t bytes = 0;
  std::uint64_t sender = 0;  ///< the sending request of a rendezvous message; 0: eager
  std::int64_t segments = 0;
  std::int64_t uniform_block = 0;
  LayoutHash hash;
  std::uint8_t alignment_log2 = 0;
  std::uint8_t memory = 0;
  std::uint8_t mixed = 0;

  void set_side(const wire::Side& side) noexcept;
  [[nodiscard]] Summary summary() const noexcept;
};
static_assert(sizeof(Envelope) <= 128, "what an unexpected message costs is documented");

/// Envelopes and the payloads of unexpected eager messages, from free lists. Memory grows to the most that
/// was ever in use.
class EnvelopePool {
 public:
  [[nodiscard]] Envelope& take();
  /// With its payload.
  void give_back(Envelope& envelope) noexcept;
  /// Copies the payload to the envelope.
  void keep_payload(Envelope& envelope, std::span<const std::byte> payload);
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }

 private:
  static constexpr std::size_t block_envelopes = 256;
  static constexpr std::size_t size_classes = 26;  ///< 64 bytes, and every power of two up to 2 GiB

  std::vector<std::unique_ptr<Envelope[]>> blocks_;
  std::vector<std::unique_ptr<std::byte[]>> payloads_;
  Arrival* free_ = nullptr;
  std::array<std::byte*, size_classes> free_payloads_{};
  std::size_t memory_bytes_ = 0;
};

}  // namespace lath::transport
