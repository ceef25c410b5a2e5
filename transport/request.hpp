#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "datatypes/layout.hpp"
#include "transport/matching.hpp"
#include "transport/plan.hpp"

namespace lath::transport {

class Engine;
class Peer;
struct Envelope;
struct SendTransfer;
struct ReceiveTransfer;
struct Delivery;
struct OneSidedState;

/// A user's buffer: `bytes` contiguous bytes at `address`, or, where there is a layout, the layout's segments
/// from `address` on.
struct Data {
  void* address = nullptr;
  std::int64_t bytes = 0;
  std::optional<Layout> layout;

  /// A contiguous layout is folded into address and bytes.
  static Data of(void* address, const Layout& layout);
  [[nodiscard]] std::int64_t segments() const noexcept {
    return layout ? layout->segment_count() : (bytes > 0 ? 1 : 0);
  }
};

/// How a request's message came out.
struct MessageStatus {
  std::int32_t source = any_source;
  std::int64_t tag = any_tag;
  std::int64_t bytes = 0;
};

/// What waits in a peer's backlog: a request that starts, or a control message.
struct Outgoing {
  Outgoing* next_outgoing = nullptr;
  bool is_request = false;
};

/// One send, receive, put or get from its start to its completion. Lives in a RequestPool; the user's handle
/// is its address.
struct Request : Posted, Outgoing {
  enum class Kind : std::uint8_t { send, receive, put, get };
  enum class State : std::uint8_t { free, inactive, active, complete };

  Kind kind = Kind::send;
  State state = State::free;
  bool persistent = false;
  bool detached = false;     ///< freed as soon as it completes
  bool synchronous = false;  ///< a send that completes when it has matched
  bool posted = false;       ///< in the matching
  bool device = false;       ///< any of the buffer is device memory
  bool mixed = false;        ///< device and host memory in one buffer
  bool moved = false;        ///< scheme is known
  bool announced = false;    ///< the peer knows its id: messages may name it
  Scheme scheme = Scheme::staged;
  std::uint32_t index = 0;  ///< in the pool
  std::uint32_t generation = 1;

  Engine* engine = nullptr;
  Peer* peer = nullptr;  ///< of a receive: where the message came from, once matched
  Data data;
  MessageStatus status;
  std::unique_ptr<Error> error;

  std::unique_ptr<SendTransfer> sending;
  std::unique_ptr<ReceiveTransfer> receiving;
  std::unique_ptr<Delivery> delivery;
  std::unique_ptr<OneSidedState> one_sided;

  Request();
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  [[nodiscard]] bool is_complete() const noexcept { return state == State::complete; }
  /// What names this request on the wire; never 0.
  [[nodiscard]] std::uint64_t id() const noexcept { return (std::uint64_t{generation} << 32) | index; }
};

/// All requests of a worker, in blocks that are never given back. Taking one allocates only where more are in
/// use than ever before.
class RequestPool {
 public:
  explicit RequestPool(Engine& engine) : engine_(engine) {}
  [[nodiscard]] Request& take();
  void give_back(Request& request) noexcept;
  /// The request of a wire id, or null where it has ended or never was.
  [[nodiscard]] Request* find(std::uint64_t id) noexcept;
  template <class Visit>
  void for_each(Visit visit) {
    for (auto& block : blocks_)
      for (std::size_t i = 0; i < block_requests; ++i) visit(block[i]);
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return blocks_.size() * block_requests * sizeof(Request);
  }

 private:
  static constexpr std::size_t block_requests = 256;

  Engine& engine_;
  std::vector<std::unique_ptr<Request[]>> blocks_;
  Outgoing* free_ = nullptr;
};

}  // namespace lath::transport
