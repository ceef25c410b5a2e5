#include "providers/verbs/provider.hpp"

#include <fmt/format.h>

#include "providers/verbs/failure.hpp"

namespace lath::providers::verbs {
namespace {

constexpr std::chrono::seconds drain_patience{1};

class Ignored final : public Events {
 public:
  void on_message(std::span<const std::byte>) override {}
  void on_completion(Context, std::size_t, const Error*) override {}
  void on_unreachable(PeerId, const Error&) override {}
};

}  // namespace

VerbsProvider::VerbsProvider(std::string name, Device device) : shared_(std::move(name), std::move(device)) {}

VerbsProvider::~VerbsProvider() {
  drain();
}

void VerbsProvider::drain() noexcept {
  Ignored events;
  for (const auto& connection : connections_)
    if (connection != nullptr) connection->leave();
  const auto open = [](const std::unique_ptr<Connection>& connection) {
    return connection != nullptr && connection->state() != Connection::State::dead;
  };
  const auto deadline = Clock::now() + drain_patience;
  while (std::any_of(connections_.begin(), connections_.end(), open) && Clock::now() < deadline)
    if (poll(events).is_error()) break;
  for (const auto& connection : connections_)
    if (open(connection)) connection->send_leave();
  while (shared_.datagrams.sending() && Clock::now() < deadline) poll_datagrams();
}

Connection& VerbsProvider::connection_to(const Address& address) {
  const auto known = by_worker_.find(address.worker);
  if (known != by_worker_.end() && known->second->usable()) return *known->second;
  const auto number = static_cast<std::uint32_t>(connections_.size());
  connections_.push_back(std::make_unique<Connection>(shared_, address, number));
  Connection& made = *connections_.back();
  by_worker_[address.worker] = &made;
  shared_.attention.reserve(connections_.size());
  attended_.reserve(connections_.size());
  return made;
}

PeerId VerbsProvider::connect(std::span<const std::byte> bytes) {
  const Address address = decode(bytes);
  if (address.link_layer != shared_.own.link_layer)
    throw Error(Code::unreachable, "one port is InfiniBand and the other Ethernet", shared_.name);
  Connection& connection = connection_to(address);
  ++connection.users;
  return connection.number();
}

void VerbsProvider::disconnect(PeerId peer) noexcept {
  if (peer >= connections_.size() || connections_[peer] == nullptr || connections_[peer]->users == 0) return;
  if (--connections_[peer]->users == 0) connections_[peer]->leave();
}

std::unique_ptr<Registration> VerbsProvider::register_memory(void* address, std::size_t length,
                                                             MemoryKind kind, bool writable, bool remote,
                                                             std::unique_ptr<Error>& why) noexcept {
  try {
    if (address == nullptr || length == 0)
      throw Error(Code::invalid_argument, "an empty or null range cannot be registered", shared_.name);
    if (kind == MemoryKind::device && !shared_.limits.device_memory &&
        !shared_.limits.device_memory_reason.empty())
      throw Error(Code::not_supported, shared_.limits.device_memory_reason, shared_.name);
    auto registered =
        std::make_unique<RegisteredMemory>(shared_.device, address, length, kind, writable, remote);
    ++shared_.counters.registrations;
    return registered;
  } catch (const Error& error) {
    why = std::make_unique<Error>(error);
  } catch (const std::exception& problem) {
    why = std::make_unique<Error>(Code::no_memory, problem.what(), shared_.name);
  }
  return nullptr;
}

Connection* VerbsProvider::find(PeerId peer, Result& result) noexcept {
  Connection* connection = peer < connections_.size() ? connections_[peer].get() : nullptr;
  if (connection == nullptr || connection->users == 0) {
    result = Result::failure(Code::invalid_argument, fmt::format("peer {} is not connected", peer));
    return nullptr;
  }
  connection->use();
  if (connection->state() == Connection::State::failing || connection->state() == Connection::State::dead) {
    result = Result::failure(connection->cause());
    return nullptr;
  }
  return connection;
}

Connection* VerbsProvider::ready(PeerId peer, Result& result) noexcept {
  Connection* connection = find(peer, result);
  if (connection == nullptr || connection->state() == Connection::State::established) return connection;
  result = Result::again();
  return nullptr;
}

Result VerbsProvider::send(PeerId peer, std::span<const Segment> list, Context context,
                           unsigned flags) noexcept {
  Result result = Result::done();
  Connection* connection = ready(peer, result);
  return connection == nullptr ? std::move(result) : connection->send(list, context, flags);
}

Result VerbsProvider::send_tagged(PeerId peer, std::span<const Segment> list, std::uint64_t tag,
                                  Context context, unsigned flags) noexcept {
  Result result = Result::done();
  Connection* connection = ready(peer, result);
  return connection == nullptr ? std::move(result) : connection->send_tagged(list, tag, context, flags);
}

Result VerbsProvider::receive_tagged(PeerId peer, std::span<const Segment> list, std::uint64_t tag,
                                     Context context) noexcept {
  Result result = Result::done();
  Connection* connection = find(peer, result);
  return connection == nullptr ? std::move(result) : connection->receive_tagged(list, tag, context);
}

void VerbsProvider::cancel(Context context) noexcept {
  for (TaggedReceive& receive : shared_.receives.all())
    if (receive.state == TaggedReceive::State::waiting && receive.user == context)
      return connections_[receive.connection]->cancel(&receive);
}

Result VerbsProvider::rma(ibv_wr_opcode way, PeerId peer, std::span<const Segment> local,
                          std::span<const RemoteSegment> remote, Context context, unsigned flags) noexcept {
  Result result = Result::done();
  Connection* connection = ready(peer, result);
  if (connection == nullptr) return result;
  if (remote.size() != 1)
    return Result::failure(Code::invalid_argument,
                           fmt::format("{} remote segments: an RMA operation has one", remote.size()));
  return connection->rma(way, local, remote.front(), context, flags);
}

Result VerbsProvider::write(PeerId peer, std::span<const Segment> local,
                            std::span<const RemoteSegment> remote, Context context, unsigned flags) noexcept {
  return rma(IBV_WR_RDMA_WRITE, peer, local, remote, context, flags);
}

Result VerbsProvider::read(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
                           Context context, unsigned flags) noexcept {
  return rma(IBV_WR_RDMA_READ, peer, local, remote, context, flags);
}

std::size_t VerbsProvider::memory_bytes() const noexcept {
  std::size_t bytes = shared_.buffers.memory_bytes() + shared_.datagrams.memory_bytes() +
                      shared_.sends.memory_bytes() + shared_.receives.memory_bytes();
  for (const auto& connection : connections_)
    if (connection != nullptr) bytes += connection->memory_bytes();
  return bytes;
}

}  // namespace lath::providers::verbs
