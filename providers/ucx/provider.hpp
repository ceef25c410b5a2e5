#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "providers/open_endpoints.hpp"
#include "providers/provider.hpp"
#include "providers/ucx/handles.hpp"
#include "providers/ucx/operation.hpp"

namespace lath::providers::ucx {

/// Of the active messages that carry control messages, and of the first one to every peer.
inline constexpr unsigned message_id = 0, greeting_id = 1;
/// Bytes of a control message.
inline constexpr std::size_t control_bytes = std::size_t{16} << 10;
/// Operations of each direction that may be outstanding. UCX itself would queue without end.
inline constexpr std::size_t queue_depth = 1024;

/// A Provider over one UCP worker: control messages as eager active messages, data as tagged messages.
class UcxProvider final : public Provider {
 public:
  /// Throws Error.
  /// `shared_memory`: the transports of `open` include some.
  UcxProvider(std::string name, OpenWorker open, bool shared_memory);
  ~UcxProvider() override;

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] const Limits& limits() const noexcept override { return limits_; }
  /// For the checks at opening, which correct what does not hold.
  [[nodiscard]] Limits& adjust_limits() noexcept { return limits_; }

  [[nodiscard]] std::vector<std::byte> address() const override { return address_; }
  PeerId connect(std::span<const std::byte> address) override;
  void disconnect(PeerId peer) noexcept override;
  std::unique_ptr<Registration> register_memory(void* address, std::size_t length, MemoryKind kind,
                                                bool writable, bool remote,
                                                std::unique_ptr<Error>& why) noexcept override;

  Result send(PeerId peer, std::span<const Segment> list, Context context, unsigned flags) noexcept override;
  Result send_tagged(PeerId peer, std::span<const Segment> list, std::uint64_t tag, Context context,
                     unsigned flags) noexcept override;
  Result receive_tagged(PeerId peer, std::span<const Segment> list, std::uint64_t tag,
                        Context context) noexcept override;
  void cancel(Context context) noexcept override;
  /// Not supported, as limits() says.
  Result write(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
               Context context, unsigned flags) noexcept override;
  Result read(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
              Context context, unsigned flags) noexcept override;
  Result poll(Events& events) noexcept override;

  [[nodiscard]] const Counters& counters() const noexcept override { return counters_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept override;

 private:
  using Clock = std::chrono::steady_clock;
  /// How far a peer's death has been dealt with: told after what it had sent has come, its operations ended
  /// after that.
  enum class Farewell : std::uint8_t { none, noticed, told, ending, complete };
  struct Peer {
    ucp_ep_h endpoint = nullptr;  ///< null once it is being closed
    void* closing = nullptr;      ///< UCX' request while that goes on
    bool forced = false;          ///< whether it may be closed by force
    bool greeting = false;        ///< on its way, or has been
    bool greeted = false;         ///< the connection stands
    std::string text;             ///< for errors
    std::int64_t process = 0;     ///< 0 where the peer is on another node or in this process
    std::shared_ptr<const std::atomic<bool>> closed;  ///< of an endpoint in this process
    ucs_status_t failure = UCS_OK;                    ///< what UCX says of the endpoint
    std::string death;                                ///< how it was found; empty while it lives
    Farewell farewell = Farewell::none;
    Clock::time_point dead_since{};
  };

  // What UCX calls back, from within worker_progress or the posting itself.
  static ucs_status_t on_message(void* self, const void* header, size_t header_length, void* data,
                                 size_t length, const ucp_am_recv_param_t* parameters);
  static ucs_status_t on_greeting(void* self, const void* header, size_t header_length, void* data,
                                  size_t length, const ucp_am_recv_param_t* parameters);
  static void on_sent(void* request, ucs_status_t status, void* operation);
  static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                          void* operation);
  static void on_endpoint_failed(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  static void on_closed(void* request, ucs_status_t status, void* peer);

  void set_message_handler(unsigned id, ucp_am_recv_callback_t handler);
  Result greet(PeerId id) noexcept;
  /// The connected peer, or null with the failure in `result`.
  Peer* find(PeerId peer, std::size_t list_length, Result& result) noexcept;
  /// What a post came to, `request` being UCX' answer; gives the operation back unless it was accepted.
  Result posted(void* request, OperationPool& pool, Operation* operation, const char* doing) noexcept;
  /// Posts an active message, the operation's.
  Result send_message(unsigned id, std::span<const Segment> list, Operation* operation) noexcept;
  void ended(Operation* operation, ucs_status_t status) noexcept;
  void count(std::span<const Segment> list, unsigned flags) noexcept;
  void close(Peer& peer, bool force) noexcept;
  /// Whether UCX has requests of this worker in hand.
  [[nodiscard]] bool busy() noexcept;
  void release_requests() noexcept;
  [[nodiscard]] OperationPool& pool_of(const Operation& operation) noexcept {
    return operation.kind == OperationKind::transmit ? transmits_ : receives_;
  }

  bool tell_ended(Events& events) noexcept;
  void tell_held_messages(Events& events) noexcept;
  void tell(Operation* operation, Events& events) noexcept;

  // Peers that die (dead_peers.cpp).
  void watch_peers(Events& events) noexcept;
  void look_at(Peer& peer) noexcept;
  void bid_farewell(PeerId id, Clock::time_point now, Events& events) noexcept;
  void cancel_receives(PeerId id) noexcept;
  void end_operations(PeerId id, Events& events) noexcept;

  std::string name_;
  OpenWorker open_;
  bool shared_memory_;
  Limits limits_;
  Counters counters_;
  std::vector<std::byte> address_;
  std::unique_ptr<OpenEndpoint> open_endpoint_;
  std::vector<std::unique_ptr<Peer>> peers_;  ///< UCX keeps pointers to them
  OperationPool transmits_;
  OperationPool receives_;
  EndedOperations ended_;
  Events* listening_ = nullptr;  ///< while messages may be handed on
  /// Messages of this worker to itself, which come while it sends them.
  std::vector<std::vector<std::byte>> held_messages_;
  bool messages_came_ = false;
  std::uint64_t polls_ = 0;
  std::size_t next_process_ = 0;  ///< the peer whose process is looked at next
  Clock::time_point next_watch_{};
  bool doorbell_due_ = false;  ///< the last operation was posted with `more`
};

}  // namespace lath::providers::ucx
