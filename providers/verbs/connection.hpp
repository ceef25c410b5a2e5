#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "providers/verbs/completion_queues.hpp"
#include "providers/verbs/datagrams.hpp"
#include "providers/verbs/handshake.hpp"
#include "providers/verbs/receive_buffers.hpp"
#include "providers/verbs/send_queue.hpp"
#include "providers/verbs/tagged.hpp"

namespace lath::providers::verbs {

using Clock = std::chrono::steady_clock;
class Connection;

/// What the connections of a worker share.
struct Shared {
  Shared(std::string name, Device opened);

  std::string name;
  Device device;
  Limits limits;
  Counters counters;
  CompletionQueues completions;
  ReceiveBuffers buffers;
  Datagrams datagrams;
  Address own;
  RecordPool<TaggedSend> sends;
  RecordPool<TaggedReceive> receives;
  std::vector<Connection*> attention;                            ///< connections that poll() must look at
  std::unordered_map<std::uint32_t, Connection*> by_queue_pair;  ///< whose control queue pair it is
  std::size_t joining = 0;                                       ///< connections with a handshake under way
  std::chrono::seconds patience;  ///< of a handshake with a worker on another machine
};

/// What a work request's id says, and how completions find their connection.
struct WorkId {
  static constexpr std::uint64_t shared_buffer = 0xffffffffff;  ///< in place of a connection's number
  static constexpr std::uint64_t make(std::uint64_t connection, Lane lane, bool receive) noexcept {
    return connection << 24 | (receive ? 1U << 18 : 0U) | static_cast<std::uint64_t>(lane) << 16;
  }
  static constexpr std::uint64_t connection(std::uint64_t id) noexcept { return id >> 24; }
  static constexpr Lane lane(std::uint64_t id) noexcept { return static_cast<Lane>(id >> 16 & 3); }
  static constexpr bool receive(std::uint64_t id) noexcept { return (id >> 18 & 1) != 0; }
  static constexpr std::uint64_t position(std::uint64_t id) noexcept { return id & 0xffff; }
};

/// Messages of the provider's own on the control queue pair, told from the user's by their immediate data.
enum class Note : std::uint32_t { request = 1, grant = 2, rma = 3 };

/// All that goes on with one peer: three reliable queue pairs, made when they are first used or when the peer
/// asks. A connection that fails ends everything exactly once and stays dead; the worker connects anew.
class Connection {
 public:
  enum class State : std::uint8_t {
    idle,
    joining,      ///< waits for the peer's queue pairs
    joined,       ///< waits until the peer is ready, too
    established,  ///< sends
    failing,      ///< waits for the device to give everything back
    dead
  };

  Connection(Shared& shared, const Address& peer, std::uint32_t number);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] State state() const noexcept { return state_; }
  /// Whether it may still be used, or made ready for use.
  [[nodiscard]] bool usable() const noexcept {
    return state_ != State::failing && state_ != State::dead && !leaving_;
  }
  [[nodiscard]] const Address& peer() const noexcept { return peer_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// The peer for error texts.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Where failing or dead.
  [[nodiscard]] const Error& cause() const noexcept { return *cause_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  // Life (connection.cpp).
  /// Begins the handshake where that has not been done.
  void use() noexcept;
  void on_handshake(const Handshake& handshake) noexcept;
  /// Sends the handshake again, looks whether the peer is alive.
  void tick(Clock::time_point now) noexcept;
  void fail(const Error& why) noexcept;
  /// The caller gives the peer up: what the device has accepted is still sent.
  void leave() noexcept;
  /// Tells the peer that this side's queue pairs go.
  void send_leave() noexcept;
  std::size_t users = 0;  ///< connect() without disconnect()

  // Posting (connection_post.cpp). The connection must not be failing or dead.
  Result send(std::span<const Segment> list, Context context, unsigned flags) noexcept;
  Result send_tagged(std::span<const Segment> list, std::uint64_t tag, Context context,
                     unsigned flags) noexcept;
  Result receive_tagged(std::span<const Segment> list, std::uint64_t tag, Context context) noexcept;
  Result rma(ibv_wr_opcode way, std::span<const Segment> local, const RemoteSegment& remote, Context context,
             unsigned flags) noexcept;
  /// Cancels a receive of this connection where it is not matched.
  void cancel(TaggedReceive* receive) noexcept;

  // Events (connection_events.cpp).
  void on_note(Note note, std::span<const std::byte> bytes) noexcept;
  void on_send_ended(Lane lane, std::uint64_t position, ibv_wc_status status, Events& events) noexcept;
  void on_receive_ended(ibv_wc_status status, std::size_t bytes, Events& events) noexcept;
  /// Moves on what may move; true if something happened. `quiet`: no completion is waiting to be read.
  bool attend(Events& events, bool quiet) noexcept;
  /// Whether attend() is to be called again.
  [[nodiscard]] bool needs_attention() const noexcept;
  /// Whether the peer may not have everything yet that was accepted for it.
  [[nodiscard]] bool draining() const noexcept;
  /// Lists it in Shared::attention.
  void want_attention() noexcept;

  bool listed = false;  ///< in Shared::attention

 private:
  struct Link {
    QueuePair pair;
    SendQueue queue;
    bool user_staged = false;  ///< the batch holds an operation of the user's
  };
  enum class RmaState : std::uint8_t { ready, breaking, offered };

  [[nodiscard]] Link& link(Lane lane) noexcept { return links_[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] const Link& link(Lane lane) const noexcept { return links_[static_cast<std::size_t>(lane)]; }
  void make_lane(Lane lane);
  void start();
  void join(const Handshake& handshake);
  void join_itself();
  void send_join() noexcept;
  void set_state(State state) noexcept;
  [[nodiscard]] QueuePair::Route route() const noexcept;
  [[nodiscard]] bool itself() const noexcept { return peer_.worker == shared_.own.worker; }

  /// Fills `list`; an error where a segment cannot be posted.
  Result translate(std::span<const Segment> list, std::size_t limit, ibv_sge* into,
                   std::uint64_t& total) const noexcept;
  void add(Lane lane, const ibv_send_wr& request, std::span<const ibv_sge> list,
           SendQueue::Entry entry) noexcept;
  void flush(Lane lane) noexcept;
  void count(std::uint64_t bytes) noexcept;
  template <class Body>
  void note(Note kind, const Body& body) noexcept;
  void probe() noexcept;
  void pump() noexcept;
  void pump_requests() noexcept;
  void pump_grants() noexcept;
  void pump_data() noexcept;
  bool post_receive(TaggedReceive* receive) noexcept;
  [[nodiscard]] std::size_t data_receives() const noexcept;

  void end(const SendQueue::Entry& entry, const Error* error, Events& events) noexcept;
  void end(TaggedReceive* receive, std::size_t bytes, const Error* error, Events& events) noexcept;
  void end_unposted(Lane lane, const Error& why, Events& events) noexcept;
  bool settle(Events& events, bool quiet_queue) noexcept;
  void bury(Events& events) noexcept;
  void break_rma() noexcept;
  void offer_rma() noexcept;
  void on_rma_offer(std::uint32_t round, const QueueName& name) noexcept;
  bool mend_rma(Events& events) noexcept;

  Shared& shared_;
  Address peer_;
  std::uint32_t number_;
  std::string text_;
  State state_ = State::idle;
  std::unique_ptr<Error> cause_;

  AddressHandle datagram_route_;
  ibv_cq* completions_ = nullptr;
  std::size_t completion_entries_ = 0;
  std::array<Link, lane_count> links_;
  std::uint64_t epoch_ = 0, peer_epoch_ = 0;
  std::uint8_t reads_out_ = 1;
  Clock::time_point next_try_{}, deadline_{}, next_probe_{};
  Clock::duration pause_{};
  bool left_ = false;     ///< the peer said that it goes
  bool leaving_ = false;  ///< this side goes, once all is sent
  bool probing_ = false;
  bool unreachable_told_ = false;

  TaggedMatching matching_;
  Queue<TaggedReceive> posted_, cancelled_;
  std::size_t posted_count_ = 0;
  Queue<TaggedSend> waiting_, granted_;

  RmaState rma_state_ = RmaState::ready;
  std::uint32_t rma_round_ = 0;
  QueueName rma_peer_;  ///< of a new queue pair that the peer has offered; number 0: none
};

}  // namespace lath::providers::verbs
