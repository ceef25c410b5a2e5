#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "providers/provider.hpp"

namespace lath::providers {

/// Lists of 4, inject 128 bytes, messages of 1 MiB, control of 16 KiB, queue of 64, RMA, ordered, host memory
/// only, no registration needed for local use.
[[nodiscard]] Limits stub_limits();

/// What one stub grants and how it misbehaves. Numbers of operations and registrations count from 1, a
/// provider.
struct StubOptions {
  Limits limits = stub_limits();  ///< enforced as they stand; ordered = false shuffles send() to a peer
  std::uint64_t seed = 1;
  double again_probability = 0.0;  ///< of answering `again` to any operation
  unsigned delay_polls = 0;  ///< an operation moves, and its completion shows, up to this many polls late
  std::size_t events_per_poll = 16;  ///< at most so many messages, and completions, a poll
  std::size_t receive_buffers = 64;  ///< messages of send() that wait for this provider's poll()
  std::vector<std::uint64_t> failing_registrations;  ///< refused with Code::no_memory
  bool refuse_registrations = false;                 ///< all of them
  std::vector<std::uint64_t> failing_operations;     ///< accepted, then complete with Code::provider
  std::vector<std::uint64_t> refused_operations;     ///< answer error at once
  std::uint64_t polls_before_broken = UINT64_MAX;    ///< later ones answer error: the whole provider is lost
};

/// A network inside this process. Providers attached to it reach each other, and nobody else; they enforce
/// the contract of provider.hpp and record what breaks it. Thread safe; may die before its providers.
class StubNetwork {
 public:
  StubNetwork();
  ~StubNetwork();

  [[nodiscard]] std::unique_ptr<Provider> attach(StubOptions options = {});

  /// The provider of this address dies: operations under way to it complete with Code::unreachable, later
  /// ones answer that error at once.
  void kill(std::span<const std::byte> address);

  /// Called, with a number from 1, on every message of send() as it enters the receiver's buffer: may change
  /// or shorten it. It must not call the network's providers.
  void on_delivery(std::function<void(std::uint64_t number, std::vector<std::byte>& bytes)> change);
  /// Flips every bit of one byte of message `number`.
  void corrupt_message(std::uint64_t number, std::size_t byte);
  void truncate_message(std::uint64_t number, std::size_t bytes);

  /// Breaches of the contract by callers, one line each: what a test asserts to be empty.
  [[nodiscard]] std::vector<std::string> violations() const;
  /// Registrations alive now.
  [[nodiscard]] std::size_t registrations() const;
  /// Messages of send() delivered so far.
  [[nodiscard]] std::uint64_t delivered() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lath::providers
