#include "transport/job.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/config.hpp"
#include "base/error.hpp"

namespace lath::transport {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t longest_message = std::uint64_t{1} << 30;

/// The first bytes on every connection, both ways: whether both ends are of the same job.
struct Greeting {
  std::uint32_t magic = 0x4c4a4f42;
  std::int32_t rank = 0;
  std::int32_t size = 0;
};

int remaining(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

void wait_for(int socket, short events, Clock::time_point deadline, std::string_view whom) {
  pollfd entry{socket, events, 0};
  for (;;) {
    const int count = poll(&entry, 1, remaining(deadline));
    if (count > 0) return;
    if (count == 0)
      throw Error(Code::unreachable,
                  fmt::format("{} did not answer in time; LATH_JOB_TIMEOUT sets how long to wait", whom));
    if (errno != EINTR) throw Error(Domain::system, errno, "poll");
  }
}

void send_all(int socket, const void* data, std::size_t bytes, Clock::time_point deadline,
              std::string_view whom) {
  const auto* at = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const auto sent = send(socket, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      at += sent;
      bytes -= static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      wait_for(socket, POLLOUT, deadline, whom);
    } else if (errno != EINTR) {
      throw Error(Code::unreachable, fmt::format("{} ended early ({})", whom, std::strerror(errno)));
    }
  }
}

void receive_all(int socket, void* data, std::size_t bytes, Clock::time_point deadline,
                 std::string_view whom) {
  auto* at = static_cast<std::byte*>(data);
  while (bytes > 0) {
    const auto got = recv(socket, at, bytes, MSG_DONTWAIT);
    if (got > 0) {
      at += got;
      bytes -= static_cast<std::size_t>(got);
    } else if (got == 0) {
      throw Error(Code::unreachable, fmt::format("{} ended early", whom));
    } else if (errno == EAGAIN) {
      wait_for(socket, POLLIN, deadline, whom);
    } else if (errno != EINTR) {
      throw Error(Code::unreachable, fmt::format("{} ended early ({})", whom, std::strerror(errno)));
    }
  }
}

void send_message(int socket, std::span<const std::byte> message, Clock::time_point deadline,
                  std::string_view whom) {
  const std::uint64_t length = message.size();
  send_all(socket, &length, sizeof length, deadline, whom);
  send_all(socket, message.data(), message.size(), deadline, whom);
}

std::vector<std::byte> receive_message(int socket, Clock::time_point deadline, std::string_view whom) {
  std::uint64_t length = 0;
  receive_all(socket, &length, sizeof length, deadline, whom);
  if (length > longest_message)
    throw Error(Code::corrupt, fmt::format("{} announced a message of {} bytes", whom, length));
  std::vector<std::byte> message(length);
  receive_all(socket, message.data(), message.size(), deadline, whom);
  return message;
}

Socket make_socket() {
  Socket made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made) throw Error(Domain::system, errno, "making a unix socket");
  return made;
}

struct AbstractName {
  sockaddr_un address{};
  socklen_t length = 0;
};

/// Abstract names need no file and vanish with their socket, so a killed job leaves nothing behind.
AbstractName abstract_name(std::string_view name) {
  AbstractName out;
  out.address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof out.address.sun_path)
    throw Error(Code::invalid_argument, fmt::format("the job's name '{}' is too long", name));
  std::memcpy(out.address.sun_path + 1, name.data(), name.size());
  out.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return out;
}

/// Anybody on the node can bind or connect to an abstract name.
bool same_user(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 &&
         credentials.uid == getuid();
}

std::string process(int rank) {
  return fmt::format("process {} of the job", rank);
}

}  // namespace

void SocketTraits::destroy(type socket) noexcept {
  close(socket);
}

Job::Job(int rank, int size, const std::string& name)
    : rank_(rank), size_(size), timeout_(std::chrono::seconds(config::integer("LATH_JOB_TIMEOUT"))) {
  if (size < 1 || rank < 0 || rank >= size)
    throw Error(Code::invalid_argument, fmt::format("rank {} in a job of {} processes", rank, size));
  if (size == 1) return;
  const AbstractName at = abstract_name(name);
  const auto* address = reinterpret_cast<const sockaddr*>(&at.address);
  const auto deadline = Clock::now() + timeout_;
  for (;;) {
    Socket candidate = make_socket();
    if (bind(candidate.get(), address, at.length) == 0) {
      become_hub(std::move(candidate));
      return;
    }
    if (errno != EADDRINUSE)
      throw Error(Domain::system, errno, fmt::format("binding the job's name '{}'", name));
    if (connect(candidate.get(), address, at.length) == 0) {
      join_hub(std::move(candidate));
      return;
    }
    if (errno != ECONNREFUSED && errno != EINTR)
      throw Error(Domain::system, errno, fmt::format("connecting to the job's name '{}'", name));
    // The hub has bound the name and is about to listen, or has just gone.
    if (Clock::now() > deadline) throw Error(Code::unreachable, "the job's hub does not listen");
    sched_yield();
  }
}

void Job::become_hub(Socket listener) {
  const auto deadline = Clock::now() + timeout_;
  connections_.resize(static_cast<std::size_t>(size_));
  if (listen(listener.get(), size_) != 0)
    throw Error(Domain::system, errno, "listening for the job's processes");
  for (int joined = 1; joined < size_;) {
    wait_for(listener.get(), POLLIN, deadline,
             fmt::format("{} of {} processes of the job are here on this node; the others", joined, size_));
    Socket connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection || !same_user(connection.get())) continue;
    Greeting greeting;
    receive_all(connection.get(), &greeting, sizeof greeting, deadline, "a process that joins the job");
    if (greeting.magic != Greeting{}.magic || greeting.size != size_ || greeting.rank < 0 ||
        greeting.rank >= size_ || greeting.rank == rank_ ||
        connections_[static_cast<std::size_t>(greeting.rank)])
      throw Error(Code::corrupt, fmt::format("rank {} of {} joined the job of rank {} of {}", greeting.rank,
                                             greeting.size, rank_, size_));
    connections_[static_cast<std::size_t>(greeting.rank)] = std::move(connection);
    ++joined;
  }
  listener.reset();  // before anybody goes on: the name is free for the next job
  const Greeting welcome{.rank = rank_, .size = size_};
  for (int rank = 0; rank < size_; ++rank)
    if (const Socket& to = connections_[static_cast<std::size_t>(rank)])
      send_all(to.get(), &welcome, sizeof welcome, deadline, process(rank));
}

void Job::join_hub(Socket connection) {
  const auto deadline = Clock::now() + timeout_;
  hub_ = false;
  if (!same_user(connection.get()))
    throw Error(Code::unreachable, "the job's name is held by another user's process");
  Greeting greeting{.rank = rank_, .size = size_};
  send_all(connection.get(), &greeting, sizeof greeting, deadline, "the job's hub");
  receive_all(connection.get(), &greeting, sizeof greeting, deadline, "the job's hub");
  if (greeting.magic != Greeting{}.magic || greeting.size != size_)
    throw Error(Code::corrupt, "the job's hub is of another job");
  connections_.push_back(std::move(connection));
}

std::vector<std::vector<std::byte>> Job::allgather(std::span<const std::byte> mine) {
  if (mine.size() > longest_message)
    throw Error(Code::invalid_argument,
                fmt::format("{} bytes are too long for the job's exchange", mine.size()));
  const auto deadline = Clock::now() + timeout_;
  const auto count = static_cast<std::size_t>(size_);
  std::vector<std::vector<std::byte>> all(count);
  if (!hub_) {
    const int hub = connections_.front().get();
    send_message(hub, mine, deadline, "the job's hub");
    for (auto& message : all) message = receive_from(hub, deadline, "the job's hub");
    return all;
  }
  all[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
  for (std::size_t rank = 0; rank < count && size_ > 1; ++rank)
    if (connections_[rank])
      all[rank] = receive_from(connections_[rank].get(), deadline, process(static_cast<int>(rank)));
  for (std::size_t rank = 0; rank < count && size_ > 1; ++rank)
    if (connections_[rank])
      for (const auto& message : all)
        send_message(connections_[rank].get(), message, deadline, process(static_cast<int>(rank)));
  return all;
}

std::vector<std::byte> Job::receive_from(int socket, Clock::time_point deadline, std::string_view whom) {
  pollfd entry{socket, POLLIN, 0};
  while (progress_ && poll(&entry, 1, 0) == 0 && Clock::now() < deadline) {
    progress_();
    sched_yield();
  }
  return receive_message(socket, deadline, whom);
}

void Job::barrier() {
  allgather({});
}

}  // namespace lath::transport
