#include "providers/ofi/peer_watch.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "providers/open_endpoints.hpp"
#include "providers/peer_process.hpp"

namespace lath::providers::ofi {
namespace {

constexpr std::chrono::milliseconds between_checks{100};
constexpr std::chrono::milliseconds between_tries{1000};

}  // namespace

void SocketTraits::destroy(int socket) noexcept {
  close(socket);
}

PeerWatch::PeerWatch(const EndpointAddress& address, bool internet) : closed_(closed_flag(address)) {
  if (address.node != 0 && address.node == node_identity()) process_ = address.process;
  if (internet && address.endpoint.size() <= sizeof port_) {
    port_length_ = static_cast<socklen_t>(address.endpoint.size());
    std::memcpy(&port_, address.endpoint.data(), address.endpoint.size());
  }
}

const char* PeerWatch::reason() const noexcept {
  return dead_ ? reason_ : "its worker in this process is closed";
}

void PeerWatch::check() noexcept {
  const Clock::time_point now = Clock::now();
  if (now < next_check_ || dead_) return;
  next_check_ = now + between_checks;
  look_at_process();
  look_at_port();
}

bool PeerWatch::process_ended() const noexcept {
  return process_ != 0 && process_ != getpid() && process_has_ended(process_);
}

void PeerWatch::look_at_process() noexcept {
  if (dead_ || !process_ended()) return;
  dead_ = true;
  reason_ = "its process has ended";
}

void PeerWatch::look_at_port() noexcept {
  if (dead_ || port_length_ == 0) return;
  if (!probe_) {
    const Clock::time_point now = Clock::now();
    if (now < next_try_) return;
    next_try_ = now + between_tries;
    probe_.reset(socket(port_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!probe_) return;
    if (connect(probe_.get(), reinterpret_cast<const sockaddr*>(&port_), port_length_) == 0)
      finish_port(0);
    else if (errno != EINPROGRESS)
      finish_port(errno);
    return;
  }
  pollfd waited{probe_.get(), POLLOUT, 0};
  if (poll(&waited, 1, 0) != 1) return;
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(probe_.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  finish_port(error);
}

void PeerWatch::finish_port(int error) noexcept {
  probe_.reset();
  switch (error) {
    case ECONNREFUSED:
      reason_ = "nothing listens at its port";
      break;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
      reason_ = "its host does not answer";
      break;
    default:
      return;
  }
  dead_ = true;
}

}  // namespace lath::providers::ofi
