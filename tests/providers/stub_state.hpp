#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tests/providers/stub_provider.hpp"

/// The inside of the stub: shared by its sources only.
namespace lath::providers {

/// A segment with what its registration said when it was posted; key 0 is none.
struct StubSegment {
  std::byte* address = nullptr;
  std::size_t length = 0;
  MemoryKind kind = MemoryKind::host;
  std::uint64_t key = 0;
};

enum class StubKind { send, tagged, receive, write, read };

/// One operation under way.
struct StubOperation {
  StubKind kind = StubKind::send;
  std::size_t peer = 0;  ///< the other side's place among the endpoints
  std::vector<StubSegment> list{};
  std::vector<RemoteSegment> remote{};
  std::uint64_t tag = 0;
  Context context = nullptr;
  std::size_t bytes = 0;
  bool injected = false;
  std::vector<std::byte> copy{};  ///< of an injected one
  unsigned delay = 0;             ///< polls left before it may move
  bool doomed = false;            ///< completes with an injected failure
};

struct StubCompletion {
  Context context = nullptr;
  std::size_t bytes = 0;
  std::unique_ptr<Error> error{};
  bool receive = false;
  unsigned delay = 0;
};

struct StubEndpoint {
  StubOptions options;
  bool alive = true;
  std::mt19937_64 random;
  std::vector<StubOperation> deferred;  ///< posted with `more`, doorbell not rung
  std::deque<StubOperation> outgoing;
  std::deque<StubOperation> receives;
  std::deque<std::vector<std::byte>> inbox;
  std::deque<StubCompletion> completions;
  std::size_t transmits_outstanding = 0;  ///< posted, and completion not yet reported
  std::size_t receives_outstanding = 0;
  Counters counters;
};

struct StubRegistered {
  std::size_t endpoint = 0;
  std::byte* address = nullptr;
  std::size_t length = 0;
  MemoryKind kind = MemoryKind::host;
  bool writable = false;
  bool remote = false;
};

struct StubNetwork::State {
  mutable std::mutex mutex;
  std::uint64_t network = 0;                             ///< tells networks of one process apart
  std::vector<std::unique_ptr<StubEndpoint>> endpoints;  ///< never removed: a place is an address
  std::map<std::uint64_t, StubRegistered> registered;    ///< by key
  std::uint64_t next_key = 1;
  std::uint64_t delivered = 0;
  std::function<void(std::uint64_t, std::vector<std::byte>&)> change;
  std::vector<std::string> violations;

  /// Moves what may move of an endpoint's outgoing operations. With the mutex held.
  bool transmit(std::size_t from);
  /// Ends one operation of an endpoint: poll() reports it after its random delay.
  void complete(StubEndpoint& endpoint, StubCompletion completion);

 private:
  enum class Moved { yes, not_yet };
  Moved move(std::size_t from, StubOperation& operation);
  Moved move_send(std::size_t from, StubOperation& operation);
  Moved move_tagged(std::size_t from, StubOperation& operation);
  Moved move_rma(std::size_t from, StubOperation& operation);
  std::vector<std::byte> gather(const StubOperation& operation);
  void scatter(const StubOperation& operation, std::span<const std::byte> bytes);
  bool still_registered(const StubOperation& operation);
};

/// Copies between any memory kinds. Throws Error where device memory is not reachable.
void stub_copy(void* to, MemoryKind to_kind, const void* from, MemoryKind from_kind, std::size_t bytes);

[[nodiscard]] Error stub_unreachable(std::size_t place);

/// A provider on a network; made by StubNetwork::attach().
[[nodiscard]] std::unique_ptr<Provider> make_stub_provider(std::shared_ptr<StubNetwork::State> network,
                                                           std::size_t place);

/// Reads the place among `state`'s endpoints out of an address. Throws Error(invalid_argument).
[[nodiscard]] std::size_t stub_place(const StubNetwork::State& state, std::span<const std::byte> address);
[[nodiscard]] std::vector<std::byte> stub_address(const StubNetwork::State& state, std::size_t place);

}  // namespace lath::providers
