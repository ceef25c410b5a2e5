#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "base/result.hpp"
#include "providers/provider.hpp"
#include "transport/engine.hpp"

namespace lath::transport {

enum class ThreadMode : std::uint8_t {
  single,      ///< one thread makes all calls
  serialized,  ///< any thread, never two at once
  multiple,    ///< any threads at once: each call holds the worker's lock
};

/// What a test or wait found of a request.
struct Outcome {
  bool complete = false;
  MessageStatus status;
  std::unique_ptr<Error> error;  ///< of the request; null on success
};

/// One endpoint of a process: sends, receives, puts and gets over one provider. Moves data only inside its
/// own calls. Set-up calls throw Error; calls that start a request answer error where it can never work, and
/// then there is no request. Handles (Peer, Request, Envelope, Region) are owned by the worker and die with
/// it.
class Worker {
 public:
  explicit Worker(std::unique_ptr<providers::Provider> provider, ThreadMode mode = ThreadMode::single);
  /// Outstanding requests end unfinished.
  ~Worker();

  [[nodiscard]] std::string provider_name() const;
  [[nodiscard]] const providers::Limits& limits() const noexcept { return engine_->limits(); }
  [[nodiscard]] std::vector<std::byte> address();
  /// `source`: the number by which this worker names the peer, at least 0.
  Peer& connect(std::span<const std::byte> address, std::int32_t source);

  /// A send completes when the buffer may be used again; a synchronous one not before it has matched.
  Result send(Peer& peer, const Data& data, std::uint32_t context, std::int64_t tag, bool synchronous,
              Request*& request);
  Result receive(const Data& data, const MatchKey& key, Request*& request);
  /// Persistent requests: inactive until start(), inactive again after they completed, until free().
  Result prepare_send(Peer& peer, const Data& data, std::uint32_t context, std::int64_t tag,
                      Request*& request);
  Result prepare_receive(const Data& data, const MatchKey& key, Request*& request);
  Result start(Request& request);
  /// Gives the handle up; an active request goes on.
  void free(Request& request);

  /// Makes progress, and tells of the first unreceived message that matches. False if there is none.
  bool probe(const MatchKey& key, MessageStatus& status);
  /// The same, and takes it out of matching; null if there is none. It must be received.
  Envelope* probe_matched(const MatchKey& key, MessageStatus& status);
  Result receive_matched(Envelope& message, const Data& data, Request*& request);

  /// done: something moved; again: nothing did; error: the provider is broken.
  Result progress();
  /// Makes progress. A complete request is given back, unless persistent.
  Outcome test(Request& request);
  Outcome wait(Request& request);
  /// Ends a receive that has not matched; it still has to be waited for.
  Result cancel(Request& request);
  /// How this side's data is or was moved, or "" before it is decided.
  [[nodiscard]] std::string_view scheme(const Request& request);

  Region& open_region(void* address, std::size_t bytes);
  void close_region(Region& region);
  Result put(Peer& peer, const Data& origin, const RegionKey& key, std::int64_t offset, const Layout& target,
             Request*& request);
  Result get(Peer& peer, const Data& origin, const RegionKey& key, std::int64_t offset, const Layout& target,
             Request*& request);

  [[nodiscard]] Counters counters();
  /// Host memory held now, and what each part of it grows to.
  [[nodiscard]] std::size_t memory_bytes();
  [[nodiscard]] std::vector<MemoryUse> memory();

 private:
  [[nodiscard]] std::unique_lock<std::mutex> lock();
  Result make(Request::Kind kind, const Data& data, Request*& request);
  Result launch(Request*& request);
  Result one_sided(Request::Kind kind, Peer& peer, const Data& origin, const RegionKey& key,
                   std::int64_t offset, const Layout& target, Request*& request);
  Outcome take_outcome(Request& request);

  ThreadMode mode_;
  std::int64_t spin_;
  std::mutex mutex_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace lath::transport
