#include "providers/ofi/provider.hpp"

#include <unistd.h>

#include <algorithm>

#include "providers/ofi/failure.hpp"
#include "providers/peer_process.hpp"

namespace lath::providers::ofi {
namespace {

std::size_t buffers_of(const Endpoint& endpoint) {
  return std::max<std::size_t>(std::min(receive_buffers, endpoint.receive_depth / 2), 1);
}

bool works_within_one_node(std::string_view provider) {
  return provider == "shm" || provider == "sm2";
}

}  // namespace

OfiProvider::OfiProvider(std::string name, Endpoint endpoint)
    : name_(std::move(name)),
      endpoint_(std::move(endpoint)),
      limits_(granted(endpoint_)),
      keys_(endpoint_.info.get()->domain_attr->mr_key_size),
      transmits_(endpoint_.transmit_depth),
      receives_(std::max<std::size_t>(endpoint_.receive_depth - buffers_of(endpoint_), 1)),
      buffer_operations_(buffers_of(endpoint_)),
      buffer_memory_(buffer_operations_.size() * limits_.max_control) {
  const EndpointAddress own{.provider = endpoint_.info.get()->fabric_attr->prov_name,
                            .node = node_identity(),
                            .process = getpid(),
                            .endpoint = endpoint_address(endpoint_)};
  address_ = encode(own);
  open_ = std::make_unique<OpenEndpoint>(own);
  if (limits_.local_registration)
    buffer_registration_ = std::make_unique<RegisteredMemory>(
        endpoint_, keys_, buffer_memory_.data(), buffer_memory_.size(), MemoryKind::host, true, false);
  late_buffers_.reserve(buffer_operations_.size());
  std::byte* buffer = buffer_memory_.data();
  for (Operation& operation : buffer_operations_) {
    operation.kind = OperationKind::control_receive;
    operation.buffer = buffer;
    buffer += limits_.max_control;
    post_receive_buffer(&operation);
  }
  if (late_buffers_.size() == buffer_operations_.size())
    throw Error(Code::provider, name_ + " takes no receive buffer");
}

OfiProvider::~OfiProvider() {
  open_.reset();
  // The endpoint may write into the buffers until it is closed; a region that is bound to it goes first.
  if (endpoint_.needs(FI_MR_ENDPOINT)) buffer_registration_.reset();
  endpoint_.handle.reset();
  buffer_registration_.reset();
}

void OfiProvider::check_peer(const EndpointAddress& address) const {
  const std::string_view own = endpoint_.info.get()->fabric_attr->prov_name;
  if (address.provider != own)
    throw Error(Code::invalid_argument, "the address is one of libfabric provider " + address.provider +
                                            ", this worker uses " + std::string(own));
  if (works_within_one_node(own) && address.node != node_identity())
    throw Error(Code::unreachable, "the peer is on another node, which " + name_ + " does not reach");
  const std::size_t expected = endpoint_.info.get()->src_addrlen;
  if (!works_within_one_node(own) && expected != 0 && address.endpoint.size() != expected)
    throw Error(Code::invalid_argument, "the address has an endpoint of " +
                                            std::to_string(address.endpoint.size()) + " bytes, " + name_ +
                                            " has " + std::to_string(expected));
}

PeerId OfiProvider::connect(std::span<const std::byte> bytes) {
  EndpointAddress address = decode(bytes);
  check_peer(address);
  const std::uint32_t format = endpoint_.info.get()->addr_format;
  Peer peer{.text = {}, .watch = PeerWatch(address, format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6)};
  // Names are text for some providers: they must not run on.
  address.endpoint.push_back(std::byte{0});
  const int inserted =
      fi_av_insert(endpoint_.addresses.get(), address.endpoint.data(), 1, &peer.address, 0, nullptr);
  if (inserted < 0) throw failure(inserted, "fi_av_insert of a peer's address");
  if (inserted != 1 || peer.address == FI_ADDR_NOTAVAIL)
    throw Error(Code::invalid_argument, "libfabric does not take the peer's address", name_);
  peer.text = printable(endpoint_, address.endpoint.data());
  peers_.push_back(std::move(peer));
  return static_cast<PeerId>(peers_.size() - 1);
}

void OfiProvider::disconnect(PeerId id) noexcept {
  if (id >= peers_.size() || !peers_[id].connected) return;
  peers_[id].connected = false;
  fi_addr_t address = peers_[id].address;
  // One endpoint that was connected twice has one entry.
  const bool shared = std::any_of(peers_.begin(), peers_.end(), [&](const Peer& other) {
    return other.connected && other.address == address;
  });
  if (!shared) fi_av_remove(endpoint_.addresses.get(), &address, 1, 0);
}

std::unique_ptr<Registration> OfiProvider::register_memory(void* address, std::size_t length, MemoryKind kind,
                                                           bool writable, bool remote,
                                                           std::unique_ptr<Error>& why) noexcept {
  try {
    if (address == nullptr || length == 0)
      throw Error(Code::invalid_argument, "an empty or null range cannot be registered", name_);
    if (kind == MemoryKind::device && (endpoint_.info.get()->caps & FI_HMEM) == 0)
      throw Error(Code::not_supported, name_ + " takes no device memory: " + limits_.device_memory_reason);
    if (!needs_registration(endpoint_, kind, remote)) return std::make_unique<RegisteredMemory>();
    auto registered =
        std::make_unique<RegisteredMemory>(endpoint_, keys_, address, length, kind, writable, remote);
    ++counters_.registrations;
    return registered;
  } catch (const Error& error) {
    why = std::make_unique<Error>(error);
  } catch (const std::exception& problem) {
    why = std::make_unique<Error>(Code::no_memory, problem.what(), name_);
  }
  return nullptr;
}

std::size_t OfiProvider::memory_bytes() const noexcept {
  return buffer_memory_.size() + buffer_operations_.size() * sizeof(Operation) + transmits_.memory_bytes() +
         receives_.memory_bytes();
}

}  // namespace lath::providers::ofi
