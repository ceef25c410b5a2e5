#include "tests/providers/stub_provider.hpp"

#include <algorithm>

#include "tests/providers/stub_state.hpp"

namespace lath::providers {
namespace {

using State = StubNetwork::State;

class StubRegistration final : public Registration {
 public:
  StubRegistration(std::shared_ptr<State> network, std::uint64_t key)
      : network_(std::move(network)), key_(key) {}
  ~StubRegistration() override {
    const std::lock_guard lock(network_->mutex);
    network_->registered.erase(key_);
  }
  [[nodiscard]] std::uint64_t key() const noexcept override { return key_; }
  [[nodiscard]] std::uint64_t remote_address() const noexcept override { return 0; }

 private:
  std::shared_ptr<State> network_;
  std::uint64_t key_;
};

bool listed(const std::vector<std::uint64_t>& numbers, std::uint64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

class StubProvider final : public Provider {
 public:
  StubProvider(std::shared_ptr<State> network, std::size_t place)
      : network_(std::move(network)), place_(place), endpoint_(*network_->endpoints[place]) {}

  ~StubProvider() override {
    const std::lock_guard lock(network_->mutex);
    for (const auto& [key, range] : network_->registered)
      if (range.endpoint == place_) violation("a registration outlives its provider");
    endpoint_.alive = false;
    endpoint_.deferred.clear();
    endpoint_.outgoing.clear();
    endpoint_.receives.clear();
    endpoint_.inbox.clear();
    endpoint_.completions.clear();
  }

  [[nodiscard]] std::string name() const override { return "stub"; }
  [[nodiscard]] const Limits& limits() const noexcept override { return endpoint_.options.limits; }
  [[nodiscard]] std::vector<std::byte> address() const override { return stub_address(*network_, place_); }

  PeerId connect(std::span<const std::byte> address) override {
    const std::lock_guard lock(network_->mutex);
    peers_.push_back(static_cast<std::ptrdiff_t>(stub_place(*network_, address)));
    return static_cast<PeerId>(peers_.size() - 1);
  }

  void disconnect(PeerId peer) noexcept override {
    const std::lock_guard lock(network_->mutex);
    if (peer >= peers_.size() || peers_[peer] < 0)
      violation("disconnect of a peer that is not connected");
    else
      peers_[peer] = -1;
  }

  std::unique_ptr<Registration> register_memory(void* address, std::size_t length, MemoryKind kind,
                                                bool writable, bool remote,
                                                std::unique_ptr<Error>& why) noexcept override;

  Result send(PeerId peer, std::span<const Segment> list, Context context, unsigned flags) noexcept override {
    return post({.kind = StubKind::send, .context = context}, peer, list, flags);
  }
  Result send_tagged(PeerId peer, std::span<const Segment> list, std::uint64_t tag, Context context,
                     unsigned flags) noexcept override {
    return post({.kind = StubKind::tagged, .tag = tag, .context = context}, peer, list, flags);
  }
  Result receive_tagged(PeerId peer, std::span<const Segment> list, std::uint64_t tag,
                        Context context) noexcept override {
    return post({.kind = StubKind::receive, .tag = tag, .context = context}, peer, list, 0);
  }
  Result write(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
               Context context, unsigned flags) noexcept override {
    return post({.kind = StubKind::write, .remote = {remote.begin(), remote.end()}, .context = context}, peer,
                local, flags);
  }
  Result read(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
              Context context, unsigned flags) noexcept override {
    return post({.kind = StubKind::read, .remote = {remote.begin(), remote.end()}, .context = context}, peer,
                local, flags);
  }

  void cancel(Context context) noexcept override {
    const std::lock_guard lock(network_->mutex);
    const auto found = std::find_if(endpoint_.receives.begin(), endpoint_.receives.end(),
                                    [&](const StubOperation& posted) { return posted.context == context; });
    if (found == endpoint_.receives.end()) return;
    endpoint_.receives.erase(found);
    network_->complete(endpoint_, {.context = context,
                                   .error = std::make_unique<Error>(Code::cancelled, "receive cancelled"),
                                   .receive = true});
  }

  Result poll(Events& events) noexcept override;

  [[nodiscard]] const Counters& counters() const noexcept override { return endpoint_.counters; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept override {
    return endpoint_.options.receive_buffers * limits().max_control;
  }

 private:
  Result post(StubOperation operation, PeerId peer, std::span<const Segment> list, unsigned flags) noexcept;
  std::string breach(const StubOperation& operation, std::span<const Segment> list) const;
  std::string segment_breach(const StubOperation& operation, const Segment& segment) const;
  void enqueue(StubOperation operation, unsigned flags);
  void ring_doorbell();
  std::vector<PeerId> find_dead();
  void violation(std::string text) noexcept { network_->violations.push_back(std::move(text)); }

  std::shared_ptr<State> network_;
  std::size_t place_;
  StubEndpoint& endpoint_;
  std::vector<std::ptrdiff_t> peers_;  ///< by PeerId: place, or -1 where disconnected
  std::vector<bool> told_;             ///< by PeerId: that it is dead
  std::uint64_t operations_ = 0;
  std::uint64_t polls_ = 0;
  std::uint64_t registrations_ = 0;
};

std::unique_ptr<Registration> StubProvider::register_memory(void* address, std::size_t length,
                                                            MemoryKind kind, bool writable, bool remote,
                                                            std::unique_ptr<Error>& why) noexcept {
  const std::lock_guard lock(network_->mutex);
  const auto refuse = [&](Code code, std::string text) {
    why = std::make_unique<Error>(code, std::move(text));
    return nullptr;
  };
  if (address == nullptr || length == 0) {
    violation("registration of an empty or null range");
    return refuse(Code::invalid_argument, "an empty or null range cannot be registered");
  }
  if (kind == MemoryKind::device && !limits().device_memory)
    return refuse(Code::not_supported, limits().device_memory_reason);
  ++registrations_;
  if (endpoint_.options.refuse_registrations ||
      listed(endpoint_.options.failing_registrations, registrations_))
    return refuse(Code::no_memory, "injected refusal of registration " + std::to_string(registrations_));
  const std::uint64_t key = network_->next_key++;
  network_->registered[key] = {place_, static_cast<std::byte*>(address), length, kind, writable, remote};
  ++endpoint_.counters.registrations;
  return std::make_unique<StubRegistration>(network_, key);
}

std::string StubProvider::segment_breach(const StubOperation& operation, const Segment& segment) const {
  if (segment.length == 0) return "a segment of length 0";
  if (segment.address == nullptr) return "a segment at address 0";
  if (segment.registration == nullptr)
    return limits().local_registration ? "a segment without the registration that limits() asks for" : "";
  const auto found = network_->registered.find(segment.registration->key());
  if (found == network_->registered.end()) return "a segment with a destroyed registration";
  const StubRegistered& range = found->second;
  const auto* begin = static_cast<const std::byte*>(segment.address);
  if (range.endpoint != place_) return "a segment with another provider's registration";
  if (begin < range.address || begin + segment.length > range.address + range.length)
    return "a segment beyond its registration";
  const bool writes = operation.kind == StubKind::receive || operation.kind == StubKind::read;
  return writes && !range.writable ? "a segment to be written with a read-only registration" : "";
}

/// What of the contract a post breaks; empty if nothing.
std::string StubProvider::breach(const StubOperation& operation, std::span<const Segment> list) const {
  const bool rma = operation.kind == StubKind::write || operation.kind == StubKind::read;
  const bool receive = operation.kind == StubKind::receive;
  const std::size_t longest = rma       ? limits().rma_local_list
                              : receive ? limits().receive_list
                                        : limits().send_list;
  if (list.size() > longest)
    return "a list of " + std::to_string(list.size()) + " segments where limits() grants " +
           std::to_string(longest);
  std::size_t total = 0;
  for (const Segment& segment : list) {
    if (std::string text = segment_breach(operation, segment); !text.empty()) return text;
    total += segment.length;
  }
  const std::size_t most = operation.kind == StubKind::send ? limits().max_control : limits().max_message;
  if (total > most && !receive)
    return "an operation of " + std::to_string(total) + " bytes where limits() grants " +
           std::to_string(most);
  if ((operation.tag & ~limits().tag_mask) != 0) return "a tag with bits outside limits().tag_mask";
  const bool on_device = std::any_of(operation.list.begin(), operation.list.end(),
                                     [](const auto& segment) { return segment.kind == MemoryKind::device; });
  if (operation.context == nullptr &&
      (operation.kind != StubKind::send || total > limits().inject_bytes || on_device))
    return "no context on an operation whose memory is not free on return";
  if (receive && std::any_of(endpoint_.receives.begin(), endpoint_.receives.end(), [&](const auto& posted) {
        return posted.tag == operation.tag && posted.peer != operation.peer;
      }))
    return "one tag awaited from two peers at once";
  if (!rma) return "";
  if (!limits().rma) return "an RMA operation where limits().rma is false";
  if (operation.remote.size() > limits().rma_remote_list) return "a remote list beyond limits()";
  std::size_t remote_total = 0;
  for (const RemoteSegment& segment : operation.remote) {
    if (segment.length == 0) return "a remote segment of length 0";
    remote_total += segment.length;
  }
  return remote_total == total ? "" : "local and remote lists of different totals";
}

Result StubProvider::post(StubOperation operation, PeerId peer, std::span<const Segment> list,
                          unsigned flags) noexcept {
  const std::lock_guard lock(network_->mutex);
  if (peer >= peers_.size() || peers_[peer] < 0) {
    violation("an operation to a peer that is not connected");
    return Result::failure(Code::internal, "stub: the peer is not connected");
  }
  operation.peer = static_cast<std::size_t>(peers_[peer]);
  const bool receive = operation.kind == StubKind::receive;
  for (const Segment& segment : list) {
    StubSegment resolved{static_cast<std::byte*>(segment.address), segment.length, MemoryKind::host, 0};
    if (segment.registration != nullptr) {
      resolved.key = segment.registration->key();
      const auto found = network_->registered.find(resolved.key);
      if (found != network_->registered.end()) resolved.kind = found->second.kind;
    }
    operation.bytes += segment.length;
    operation.list.push_back(resolved);
  }
  std::string text = breach(operation, list);
  if (text.empty() && !receive && !endpoint_.deferred.empty() &&
      endpoint_.deferred.back().peer != operation.peer)
    text = "`more` promised another operation to the same peer";
  if (!text.empty()) {
    violation(text);
    return Result::failure(Code::internal, "stub: contract broken: " + text);
  }

  if (!receive && !network_->endpoints[operation.peer]->alive)
    return Result::failure(stub_unreachable(operation.peer));
  std::size_t& outstanding = receive ? endpoint_.receives_outstanding : endpoint_.transmits_outstanding;
  if (outstanding >= limits().queue_depth) return Result::again();
  if (endpoint_.options.again_probability > 0.0 &&
      std::uniform_real_distribution(0.0, 1.0)(endpoint_.random) < endpoint_.options.again_probability)
    return Result::again();
  ++operations_;
  if (listed(endpoint_.options.refused_operations, operations_))
    return Result::failure(Code::provider, "injected refusal of operation " + std::to_string(operations_));
  operation.doomed = listed(endpoint_.options.failing_operations, operations_);
  ++outstanding;
  enqueue(std::move(operation), flags);
  return Result::done();
}

void StubProvider::enqueue(StubOperation operation, unsigned flags) {
  if (operation.kind == StubKind::receive) {
    if (operation.doomed)
      network_->complete(endpoint_,
                         {.context = operation.context,
                          .error = std::make_unique<Error>(Code::provider, "injected failure of a receive"),
                          .receive = true});
    else
      endpoint_.receives.push_back(std::move(operation));
    return;
  }
  // Only an injected operation is read now; all others late, so that memory reused too early shows.
  if (operation.context == nullptr) {
    for (const StubSegment& segment : operation.list)
      operation.copy.insert(operation.copy.end(), segment.address, segment.address + segment.length);
    operation.list.clear();
    operation.injected = true;
  }
  if (endpoint_.options.delay_polls > 0)
    operation.delay = static_cast<unsigned>(endpoint_.random() % (endpoint_.options.delay_polls + 1));
  ++endpoint_.counters.work_requests;
  endpoint_.counters.wire_bytes += operation.bytes;
  endpoint_.deferred.push_back(std::move(operation));
  if ((flags & more) == 0) ring_doorbell();
}

void StubProvider::ring_doorbell() {
  if (endpoint_.deferred.empty()) return;
  ++endpoint_.counters.doorbells;
  for (StubOperation& operation : endpoint_.deferred) endpoint_.outgoing.push_back(std::move(operation));
  endpoint_.deferred.clear();
}

/// Peers whose death has not been told, once all that they had sent is in. Ends the receives from them.
std::vector<PeerId> StubProvider::find_dead() {
  std::vector<PeerId> dead;
  if (!endpoint_.inbox.empty()) return dead;
  told_.resize(peers_.size(), false);
  for (PeerId peer = 0; peer < peers_.size(); ++peer) {
    const std::ptrdiff_t place = peers_[peer];
    if (told_[peer] || place < 0 || network_->endpoints[static_cast<std::size_t>(place)]->alive) continue;
    told_[peer] = true;
    dead.push_back(peer);
    for (auto posted = endpoint_.receives.begin(); posted != endpoint_.receives.end();) {
      if (posted->peer != static_cast<std::size_t>(place)) {
        ++posted;
        continue;
      }
      network_->complete(endpoint_, {.context = posted->context,
                                     .error = std::make_unique<Error>(stub_unreachable(posted->peer)),
                                     .receive = true});
      posted = endpoint_.receives.erase(posted);
    }
  }
  return dead;
}

Result StubProvider::poll(Events& events) noexcept {
  if (++polls_ > endpoint_.options.polls_before_broken)
    return Result::failure(Code::provider, "injected breakdown of the provider");
  std::deque<std::vector<std::byte>> messages;
  std::deque<StubCompletion> ended;
  std::vector<PeerId> dead;
  bool moved = false;
  {
    const std::lock_guard lock(network_->mutex);
    ring_doorbell();
    moved = network_->transmit(place_);
    dead = find_dead();
    const std::size_t most = endpoint_.options.events_per_poll;
    for (; messages.size() < most && !endpoint_.inbox.empty(); endpoint_.inbox.pop_front())
      messages.push_back(std::move(endpoint_.inbox.front()));
    std::deque<StubCompletion> late;
    for (StubCompletion& completion : endpoint_.completions) {
      if (completion.delay > 0 || ended.size() >= most) {
        if (completion.delay > 0) --completion.delay;
        late.push_back(std::move(completion));
        moved = true;
        continue;
      }
      --(completion.receive ? endpoint_.receives_outstanding : endpoint_.transmits_outstanding);
      ended.push_back(std::move(completion));
    }
    endpoint_.completions = std::move(late);
  }
  for (const auto& message : messages) events.on_message(message);
  for (const auto& completion : ended)
    if (completion.context != nullptr)
      events.on_completion(completion.context, completion.bytes, completion.error.get());
  for (const PeerId peer : dead)
    events.on_unreachable(peer, stub_unreachable(static_cast<std::size_t>(peers_[peer])));
  return moved || !messages.empty() || !ended.empty() ? Result::done() : Result::again();
}

}  // namespace

std::unique_ptr<Provider> make_stub_provider(std::shared_ptr<State> network, std::size_t place) {
  return std::make_unique<StubProvider>(std::move(network), place);
}

}  // namespace lath::providers
