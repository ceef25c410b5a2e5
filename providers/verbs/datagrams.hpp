#pragma once

#include <functional>
#include <memory>

#include "providers/verbs/handshake.hpp"
#include "providers/verbs/memory.hpp"
#include "providers/verbs/page_memory.hpp"

namespace lath::providers::verbs {

/// The queue pair for datagrams: what workers exchange before they have others.
class Datagrams {
 public:
  /// Throws Error.
  explicit Datagrams(const Device& device);

  [[nodiscard]] std::uint32_t number() const noexcept { return handle_.get()->qp_num; }
  [[nodiscard]] std::uint32_t key() const noexcept { return key_; }
  /// Sends one, as far as datagrams go: it may be lost.
  void send(ibv_ah* route, const Address& to, const Handshake& handshake) noexcept;
  /// Hands over what has arrived; true if anything had happened.
  bool poll(const std::function<void(const Handshake&)>& receive);
  /// Whether the device still holds something to send.
  [[nodiscard]] bool sending() const noexcept { return sending_ > 0; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_.size(); }

 private:
  void post(std::size_t buffer) noexcept;

  std::uint32_t key_;
  PageMemory memory_;
  std::unique_ptr<RegisteredMemory> registration_;
  CompletionQueueHandle queue_;
  QueuePairHandle handle_;
  std::size_t next_ = 0, sending_ = 0;
};

}  // namespace lath::providers::verbs
