#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/unique_handle.hpp"
#include "providers/endpoint_address.hpp"

namespace lath::providers::ofi {

struct SocketTraits {
  using type = int;
  static constexpr int null() { return -1; }
  static void destroy(int socket) noexcept;
};

/// Finds out whether a peer is dead, where the device does not tell: libfabric retries connections without
/// end, and a receive waits for a dead sender as for a slow one. A peer that is merely busy is told apart by
/// asking the system, not by its silence: whether its process lives, where it is on this node, and whether
/// its port still listens.
class PeerWatch {
 public:
  /// `internet`: the endpoint is an internet socket address.
  PeerWatch(const EndpointAddress& address, bool internet);

  /// An operation to the peer was taken.
  void accepted() noexcept { refusals_ = 0; }
  /// An operation to the peer was refused. Mostly counts; now and then makes system calls, none of which
  /// waits.
  void refused() noexcept {
    if (++refusals_ % refusals_a_check == 0) check();
  }
  /// Whether its process, on this node, has ended: system calls, none of which waits.
  void look_at_process() noexcept;
  /// Whether its process was on this node and is gone now, no other having taken its number.
  [[nodiscard]] bool process_ended() const noexcept;
  /// Whether its port listens: begins to try, at most once a second, or looks how the last try came out.
  void look_at_port() noexcept;
  [[nodiscard]] bool dead() const noexcept {
    return dead_ || (closed_ != nullptr && closed_->load(std::memory_order_relaxed));
  }
  /// Where dead(): how that was found.
  [[nodiscard]] const char* reason() const noexcept;

 private:
  static constexpr std::uint64_t refusals_a_check = 256;
  using Clock = std::chrono::steady_clock;

  void check() noexcept;
  void finish_port(int error) noexcept;

  std::int64_t process_ = 0;  ///< 0 where the peer is on another node
  sockaddr_storage port_{};
  socklen_t port_length_ = 0;                        ///< 0 where it has none
  std::shared_ptr<const std::atomic<bool>> closed_;  ///< of an endpoint in this process
  std::uint64_t refusals_ = 0;
  Clock::time_point next_check_{};
  Clock::time_point next_try_{};
  unique_handle<SocketTraits> probe_;
  bool dead_ = false;
  const char* reason_ = "";
};

}  // namespace lath::providers::ofi
