#pragma once

#include <cstdint>
#include <functional>

#include "providers/verbs/device.hpp"

namespace lath::providers::verbs {

/// What is asked of a queue pair, and what the device has granted.
struct QueueCaps {
  std::uint32_t send_depth = 0, receive_depth = 0;
  std::uint32_t send_list = 0, receive_list = 0;
  std::uint32_t inline_bytes = 0;
};

/// Asks for less each time that `create` answers false: less inline data, then shorter lists, then shallower
/// queues, since devices trade them against each other. False where the least is refused too. `caps` is what
/// was asked for last.
bool negotiate(QueueCaps& caps, const std::function<bool(QueueCaps&)>& create);

/// One side of a connection as the other must know it.
struct QueueName {
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;  ///< sequence number of the first packet that it sends
};

/// A reliable queue pair. Move-only.
class QueuePair {
 public:
  QueuePair() = default;
  /// Creates one that accepts packets once it is connected. `shared` may be null: it then has a receive
  /// queue of its own. Throws Error.
  QueuePair(const Device& device, ibv_cq* completions, ibv_srq* shared, QueueCaps wanted);

  struct Route {
    ibv_ah_attr path{};
    ibv_mtu mtu = IBV_MTU_1024;
    std::uint8_t reads_out = 1;  ///< RDMA reads that this side may have under way
    std::uint8_t reads_in = 1;   ///< and that the other side may
  };
  /// Joins it to the peer's and makes it ready to receive and to send. Throws Error.
  void connect(const Route& route, const QueueName& peer);
  /// Ends all that is posted, with an error each.
  void break_off() noexcept;

  [[nodiscard]] ibv_qp* get() const noexcept { return handle_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  [[nodiscard]] const QueueName& name() const noexcept { return name_; }
  /// As read back after creation.
  [[nodiscard]] const QueueCaps& caps() const noexcept { return caps_; }

 private:
  QueuePairHandle handle_;
  QueueName name_;
  QueueCaps caps_;
};

/// A random sequence number to begin with: a late packet of an earlier connection must not fit.
[[nodiscard]] std::uint32_t random_sequence();

}  // namespace lath::providers::verbs
