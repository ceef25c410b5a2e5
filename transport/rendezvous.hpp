#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "transport/envelope.hpp"
#include "transport/operation.hpp"
#include "transport/peer.hpp"
#include "transport/remembered_plans.hpp"
#include "transport/request.hpp"
#include "transport/scheme.hpp"
#include "transport/wire.hpp"

/// Messages that the receiver plans: RTS, CTS, then chunks on credit as tagged messages.
///
/// Chunks are begun, sent and retired in order, each in the slot (number modulo slots). A side that cannot
/// carry out its part stops: the sender tells with HALT which chunks it has sent, the receiver waits for
/// those, and either makes a plan (a new round) for the rest with `staged` on that side, or both fail.
namespace lath::transport {

class Rendezvous;

struct SendSlot final : Operation {
  SendTransfer* transfer = nullptr;
  Slot slot;
  bool ended = false;  ///< the provider is done with it

  void completed(std::size_t bytes, const Error* error) override;
};

/// The sending side of one message, from its CTS on.
struct SendTransfer {
  Request* request = nullptr;
  std::uint64_t receiver = 0;  ///< the receiving request
  wire::Cts plan;
  std::optional<wire::Cts> next_plan;  ///< arrived before the chunks of this round have ended
  std::unique_ptr<Source> source;
  std::vector<SendSlot> slots;
  std::int64_t chunks = 0;
  std::int64_t credit = 0;
  std::int64_t begun = 0, sent = 0, retired = 0;
  bool active = false;
  bool attention = false;  ///< advancing may change something
  bool halting = false;    ///< begins and sends nothing more in this round
  bool halt_sent = false;
  std::unique_ptr<Error> error;

  [[nodiscard]] PackedRange range(std::int64_t chunk) const noexcept;
  [[nodiscard]] SendSlot& slot(std::int64_t chunk) noexcept {
    return slots[static_cast<std::size_t>(chunk) % slots.size()];
  }
};

struct ReceiveSlot final : Operation {
  enum class Phase : std::uint8_t { reserved, posted, landed, moving, ended };
  ReceiveTransfer* transfer = nullptr;
  Slot slot;
  Phase phase = Phase::ended;
  std::size_t bytes = 0;

  void completed(std::size_t bytes, const Error* error) override;
};

/// The receiving side of one message, from its match on.
struct ReceiveTransfer {
  Request* request = nullptr;
  Peer* peer = nullptr;
  std::uint64_t sender = 0;  ///< the sending request
  Summary source;
  bool source_mixed = false;  ///< also: the sender could not carry out another plan than staged
  bool sink_mixed = false;    ///< also: the same of this side
  std::int64_t wanted = 0;    ///< bytes to receive
  Plan plan;
  std::uint32_t round = 0;     ///< counts the plans that the sender was told
  std::uint32_t attempts = 0;  ///< counts the plans that could not be carried out
  std::int64_t begin = 0;      ///< packed bytes received in earlier rounds
  std::uint64_t tag = 0;
  std::unique_ptr<Sink> sink;
  std::vector<ReceiveSlot> slots;
  std::int64_t chunks = 0;
  std::int64_t reserved = 0, posted = 0, announced = 0, retired = 0;
  bool active = false;
  bool attention = false;
  bool stopping = false;       ///< reserves and posts nothing more in this round
  bool told = false;           ///< the sender has a CTS of this round
  bool sender_failed = false;  ///< and knows it
  bool abort_sent = false;
  std::optional<std::int64_t> halted_at;
  std::unique_ptr<Error> error;

  [[nodiscard]] PackedRange range(std::int64_t chunk) const noexcept;
  [[nodiscard]] ReceiveSlot& slot(std::int64_t chunk) noexcept {
    return slots[static_cast<std::size_t>(chunk) % slots.size()];
  }
};

/// All rendezvous messages of a worker.
class Rendezvous {
 public:
  explicit Rendezvous(Engine& engine) : engine_(engine) {}

  /// A receive has met its RTS. Takes the envelope.
  void matched(Request& request, Envelope& envelope);
  void on_cts(Peer& peer, const wire::Cts& cts);
  void on_credit(Peer& peer, const wire::Credit& credit);
  void on_halt(Peer& peer, const wire::Halt& halt);
  /// The peer's side of a request has failed.
  void on_abort(Request& request, std::unique_ptr<Error> error);

  /// One step of everything that may move.
  void progress();
  /// Stops what goes on with a peer that is lost.
  void lose(Peer& peer, const Error& why);
  /// Asks the provider to give every posted receive back; and, when it has, releases everything.
  void cancel_all() noexcept;
  void drop_all() noexcept;
  /// Fails everything at once, also what the provider still holds: for a provider that is broken.
  void abandon(const Error& why);
  /// Whether the request's data is moving, or waits to.
  [[nodiscard]] bool holds(const Request& request) const noexcept;
  [[nodiscard]] bool idle() const noexcept {
    return sending_.empty() && receiving_.empty() && waiting_.empty();
  }

  /// Receives under way at once; further ones wait for their turn, so that bounce memory and the provider's
  /// queues are shared by few.
  static constexpr std::size_t most_receiving = 32;

 private:
  // The sending side (rendezvous_send.cpp).
  void adopt(SendTransfer& transfer, const wire::Cts& cts);
  bool make_source(SendTransfer& transfer);
  bool begin_chunks(SendTransfer& transfer);
  bool send_chunks(SendTransfer& transfer);
  void stop(SendTransfer& transfer, const Error& why);
  void halt(SendTransfer& transfer);
  bool advance(SendTransfer& transfer);

  // The receiving side (rendezvous_receive.cpp).
  void begin(Request& request, Envelope& envelope);
  void make_plan(ReceiveTransfer& transfer);
  bool make_sink(ReceiveTransfer& transfer);
  void reserve_chunks(ReceiveTransfer& transfer);
  void post_chunks(ReceiveTransfer& transfer);
  void announce(ReceiveTransfer& transfer);
  void move_chunks(ReceiveTransfer& transfer);
  void stop(ReceiveTransfer& transfer, const Error& why);
  void fail(ReceiveTransfer& transfer, const Error& why);
  bool settle(ReceiveTransfer& transfer);
  bool advance(ReceiveTransfer& transfer);
  void finish(ReceiveTransfer& transfer);

  Engine& engine_;
  std::vector<SendTransfer*> sending_;
  std::vector<ReceiveTransfer*> receiving_;
  struct Waiting {
    Request* request;
    Envelope* envelope;
  };
  std::deque<Waiting> waiting_;
  RememberedPlans plans_;
  std::uint64_t next_tag_ = 0;
};

}  // namespace lath::transport
