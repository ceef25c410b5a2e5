#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/scheme.hpp"

namespace lath::transport {

class Engine;
struct Request;

/// An eager message's payload on its way into a buffer that the CPU cannot write: through the host memory of
/// a sink. Owned by its request.
struct Delivery {
  Request* request = nullptr;
  std::vector<std::byte> payload;
  std::unique_ptr<Sink> sink;
  Slot slot;
  std::int64_t sent = 0;       ///< bytes of the message, more than the payload where truncated
  std::int64_t piece = 0;      ///< bytes of one step: what a bounce buffer holds
  std::int64_t delivered = 0;  ///< bytes in the user's buffer
  enum class Phase : std::uint8_t { begin, arrived, finished } phase = Phase::begin;

  /// done: all is in the user's buffer. again: call again from progress.
  Result advance() noexcept;
};

/// The deliveries of a worker.
class Deliveries {
 public:
  explicit Deliveries(Engine& engine) : engine_(engine) {}
  /// Completes the request, of a message of `sent` bytes, from progress.
  void start(Request& request, std::span<const std::byte> payload, std::int64_t sent);
  void progress();
  [[nodiscard]] bool idle() const noexcept { return active_.empty(); }

 private:
  Engine& engine_;
  std::vector<Request*> active_;
};

}  // namespace lath::transport
