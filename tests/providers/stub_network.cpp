#include <algorithm>
#include <atomic>
#include <cstring>

#include "tests/providers/stub_state.hpp"

namespace lath::providers {
namespace {

struct AddressBytes {
  char magic[8] = {'S', 'T', 'U', 'B', 'N', 'E', 'T', '1'};
  std::uint64_t network = 0;
  std::uint64_t place = 0;
};

}  // namespace

Error stub_unreachable(std::size_t place) {
  return Error(Code::unreachable, "stub peer " + std::to_string(place) + " is dead");
}

Limits stub_limits() {
  Limits limits;
  limits.send_list = limits.receive_list = limits.rma_local_list = limits.rma_remote_list = 4;
  limits.inject_bytes = 128;
  limits.max_message = 1 << 20;
  limits.max_control = 16 << 10;
  limits.queue_depth = 64;
  limits.rma = true;
  limits.ordered = true;
  limits.device_memory_reason = "the stub was asked for host memory only";
  return limits;
}

std::vector<std::byte> stub_address(const StubNetwork::State& state, std::size_t place) {
  AddressBytes address;
  address.network = state.network;
  address.place = place;
  std::vector<std::byte> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

std::size_t stub_place(const StubNetwork::State& state, std::span<const std::byte> bytes) {
  AddressBytes address;
  const AddressBytes expected;
  if (bytes.size() != sizeof address)
    throw Error(Code::invalid_argument,
                "an address of " + std::to_string(bytes.size()) + " bytes is not one of provider stub");
  std::memcpy(&address, bytes.data(), sizeof address);
  if (std::memcmp(address.magic, expected.magic, sizeof address.magic) != 0)
    throw Error(Code::invalid_argument, "the address is not one of provider stub");
  if (address.network != state.network || address.place >= state.endpoints.size())
    throw Error(Code::unreachable, "the address is of another stub network");
  return address.place;
}

void StubNetwork::State::complete(StubEndpoint& endpoint, StubCompletion completion) {
  if (endpoint.options.delay_polls > 0)
    completion.delay = static_cast<unsigned>(endpoint.random() % (endpoint.options.delay_polls + 1));
  endpoint.completions.push_back(std::move(completion));
}

bool StubNetwork::State::still_registered(const StubOperation& operation) {
  for (const StubSegment& segment : operation.list) {
    if (segment.key == 0 || registered.count(segment.key) != 0) continue;
    violations.push_back("a registration was destroyed while an operation used it");
    return false;
  }
  return true;
}

std::vector<std::byte> StubNetwork::State::gather(const StubOperation& operation) {
  if (operation.injected) return operation.copy;
  std::vector<std::byte> bytes(operation.bytes);
  std::size_t at = 0;
  for (const StubSegment& segment : operation.list) {
    stub_copy(bytes.data() + at, MemoryKind::host, segment.address, segment.kind, segment.length);
    at += segment.length;
  }
  return bytes;
}

void StubNetwork::State::scatter(const StubOperation& operation, std::span<const std::byte> bytes) {
  for (const StubSegment& segment : operation.list) {
    const std::size_t part = std::min(segment.length, bytes.size());
    stub_copy(segment.address, segment.kind, bytes.data(), MemoryKind::host, part);
    bytes = bytes.subspan(part);
  }
}

StubNetwork::State::Moved StubNetwork::State::move_send(std::size_t from, StubOperation& operation) {
  StubEndpoint& target = *endpoints[operation.peer];
  if (target.inbox.size() >= target.options.receive_buffers) return Moved::not_yet;
  std::vector<std::byte> bytes = gather(operation);
  ++delivered;
  if (change) change(delivered, bytes);
  target.inbox.push_back(std::move(bytes));
  complete(*endpoints[from], {.context = operation.context});
  return Moved::yes;
}

StubNetwork::State::Moved StubNetwork::State::move_tagged(std::size_t from, StubOperation& operation) {
  StubEndpoint& target = *endpoints[operation.peer];
  const auto match = std::find_if(
      target.receives.begin(), target.receives.end(),
      [&](const StubOperation& posted) { return posted.tag == operation.tag && posted.peer == from; });
  if (match == target.receives.end()) return Moved::not_yet;
  const std::vector<std::byte> bytes = gather(operation);
  const StubOperation receive = std::move(*match);
  target.receives.erase(match);
  const std::size_t fits = std::min(bytes.size(), receive.bytes);
  StubCompletion received{.context = receive.context, .bytes = fits, .receive = true};
  try {
    if (still_registered(receive)) scatter(receive, std::span(bytes).first(fits));
    if (fits < bytes.size())
      throw Error(Code::truncated, "a tagged message of " + std::to_string(bytes.size()) + " bytes for " +
                                       std::to_string(receive.bytes));
  } catch (const Error& error) {
    received.error = std::make_unique<Error>(error);
  }
  complete(target, std::move(received));
  complete(*endpoints[from], {.context = operation.context});
  return Moved::yes;
}

StubNetwork::State::Moved StubNetwork::State::move_rma(std::size_t from, StubOperation& operation) {
  std::unique_ptr<Error> error;
  std::vector<std::byte> bytes(operation.bytes);
  if (operation.kind == StubKind::write) bytes = gather(operation);
  std::size_t at = 0;
  for (const RemoteSegment& segment : operation.remote) {
    const auto found = registered.find(segment.key);
    const bool write = operation.kind == StubKind::write;
    if (found == registered.end() || found->second.endpoint != operation.peer || !found->second.remote ||
        (write && !found->second.writable) || segment.address > found->second.length ||
        segment.length > found->second.length - segment.address) {
      error = std::make_unique<Error>(
          Code::provider, "key " + std::to_string(segment.key) + " does not grant the remote range");
      break;
    }
    std::byte* remote = found->second.address + segment.address;
    if (write)
      stub_copy(remote, found->second.kind, bytes.data() + at, MemoryKind::host, segment.length);
    else
      stub_copy(bytes.data() + at, MemoryKind::host, remote, found->second.kind, segment.length);
    at += segment.length;
  }
  if (error == nullptr && operation.kind == StubKind::read) scatter(operation, bytes);
  complete(*endpoints[from], {.context = operation.context, .error = std::move(error)});
  return Moved::yes;
}

StubNetwork::State::Moved StubNetwork::State::move(std::size_t from, StubOperation& operation) {
  try {
    if (!endpoints[operation.peer]->alive) throw stub_unreachable(operation.peer);
    if (operation.doomed) throw Error(Code::provider, "injected failure of an operation");
    if (!still_registered(operation)) throw Error(Code::internal, "a registration is gone");
    switch (operation.kind) {
      case StubKind::send:
        return move_send(from, operation);
      case StubKind::tagged:
        return move_tagged(from, operation);
      default:
        return move_rma(from, operation);
    }
  } catch (const Error& error) {
    complete(*endpoints[from], {.context = operation.context, .error = std::make_unique<Error>(error)});
    return Moved::yes;
  }
}

bool StubNetwork::State::transmit(std::size_t from) {
  StubEndpoint& source = *endpoints[from];
  std::vector<std::size_t> order(source.outgoing.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (!source.options.limits.ordered) std::shuffle(order.begin(), order.end(), source.random);

  std::vector<bool> moved(order.size());
  bool any = false;
  // What must not be overtaken: sends to a peer where ordered, tagged sends of one tag always.
  const auto overtakes = [&](std::size_t at) {
    const StubOperation& mine = source.outgoing[at];
    for (std::size_t i = 0; i < at; ++i) {
      const StubOperation& earlier = source.outgoing[i];
      if (moved[i] || earlier.peer != mine.peer || earlier.kind != mine.kind) continue;
      if (mine.kind == StubKind::send && source.options.limits.ordered) return true;
      if (mine.kind == StubKind::tagged && earlier.tag == mine.tag) return true;
    }
    return false;
  };
  for (const std::size_t at : order) {
    StubOperation& operation = source.outgoing[at];
    if (operation.delay > 0) {
      --operation.delay;
      any = true;
      continue;
    }
    if (overtakes(at) || move(from, operation) == Moved::not_yet) continue;
    moved[at] = any = true;
  }
  std::deque<StubOperation> left;
  for (std::size_t i = 0; i < moved.size(); ++i)
    if (!moved[i]) left.push_back(std::move(source.outgoing[i]));
  source.outgoing = std::move(left);
  return any;
}

StubNetwork::StubNetwork() : state_(std::make_shared<State>()) {
  static std::atomic<std::uint64_t> networks{0};
  state_->network = ++networks;
}

StubNetwork::~StubNetwork() = default;

std::unique_ptr<Provider> StubNetwork::attach(StubOptions options) {
  const std::lock_guard lock(state_->mutex);
  auto endpoint = std::make_unique<StubEndpoint>();
  const std::size_t place = state_->endpoints.size();
  endpoint->random.seed(options.seed * 1000003 + place);
  endpoint->options = std::move(options);
  state_->endpoints.push_back(std::move(endpoint));
  return make_stub_provider(state_, place);
}

void StubNetwork::kill(std::span<const std::byte> address) {
  const std::lock_guard lock(state_->mutex);
  state_->endpoints[stub_place(*state_, address)]->alive = false;
}

void StubNetwork::on_delivery(std::function<void(std::uint64_t, std::vector<std::byte>&)> change) {
  const std::lock_guard lock(state_->mutex);
  state_->change = std::move(change);
}

void StubNetwork::corrupt_message(std::uint64_t number, std::size_t byte) {
  on_delivery([=](std::uint64_t delivered, std::vector<std::byte>& bytes) {
    if (delivered == number && byte < bytes.size()) bytes[byte] ^= std::byte{0xff};
  });
}

void StubNetwork::truncate_message(std::uint64_t number, std::size_t length) {
  on_delivery([=](std::uint64_t delivered, std::vector<std::byte>& bytes) {
    if (delivered == number && length < bytes.size()) bytes.resize(length);
  });
}

std::vector<std::string> StubNetwork::violations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->violations;
}

std::size_t StubNetwork::registrations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->registered.size();
}

std::uint64_t StubNetwork::delivered() const {
  const std::lock_guard lock(state_->mutex);
  return state_->delivered;
}

}  // namespace lath::providers
