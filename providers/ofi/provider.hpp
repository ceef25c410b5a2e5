#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "providers/ofi/endpoint.hpp"
#include "providers/ofi/memory.hpp"
#include "providers/ofi/operation.hpp"
#include "providers/ofi/peer_watch.hpp"
#include "providers/open_endpoints.hpp"
#include "providers/provider.hpp"

namespace lath::providers::ofi {

/// A Provider over one libfabric endpoint: control messages as FI_MSG into a ring of posted buffers, data as
/// FI_TAGGED, one completion queue for both.
class OfiProvider final : public Provider {
 public:
  /// Posts the receive buffers. Throws Error.
  OfiProvider(std::string name, Endpoint endpoint);
  ~OfiProvider() override;

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
  Result write(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
               Context context, unsigned flags) noexcept override;
  Result read(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
              Context context, unsigned flags) noexcept override;
  Result poll(Events& events) noexcept override;

  [[nodiscard]] const Counters& counters() const noexcept override { return counters_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept override;

 private:
  using Clock = std::chrono::steady_clock;
  /// How far a peer's death has been dealt with: told after what it had sent has come, operations ended after
  /// the device had time to end them.
  enum class Farewell : std::uint8_t { none, noticed, told, complete };
  struct Peer {
    fi_addr_t address = FI_ADDR_UNSPEC;
    std::string text;  ///< for errors
    PeerWatch watch;
    bool connected = true;
    Operation* batch = nullptr;  ///< of writes, that is not closed yet
    Farewell farewell = Farewell::none;
    Clock::time_point dead_since{};
  };
  enum class Way { write, read };

  void check_peer(const EndpointAddress& address) const;
  Result inject(Peer& peer, std::span<const Segment> list) noexcept;
  Result rma(Way way, PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
             Context context, unsigned flags) noexcept;
  long post_rma(Way way, const Peer& peer, std::span<const Segment> local,
                std::span<const RemoteSegment> remote, Operation* operation, std::uint64_t flags) noexcept;
  Result write_in_batch(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
                        Context context, unsigned flags) noexcept;
  Result post_part(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
                   Operation* batch, bool last, unsigned flags) noexcept;
  Result close_batch(Peer& peer, Context context) noexcept;
  void end_part(Operation* part, const Error* error, Events& events) noexcept;
  /// The connected peer, or null with the failure in `result`.
  Peer* find(PeerId peer, std::size_t list_length, Result& result) noexcept;
  /// What a post came to; gives the operation back unless it was accepted.
  Result posted(long status, OperationPool& pool, Operation* operation, const char* doing) noexcept;
  void count(std::span<const Segment> list, unsigned flags) noexcept;
  /// The flags of an operation that has been taken from its pool. Without `more` where no other would be
  /// taken after it: what is held back until something follows would then wait for ever.
  [[nodiscard]] unsigned followed(unsigned flags) const noexcept {
    return transmits_.in_use() < transmits_.size() ? flags : flags & ~more;
  }

  void post_receive_buffer(Operation* operation) noexcept;
  void repost_late_buffers() noexcept;
  void complete(Operation* operation, std::size_t bytes, Events& events) noexcept;
  Result complete_failed(Events& events) noexcept;

  // Peers that die while requests merely wait (dead_peers.cpp).
  void watch_peers(Events& events) noexcept;
  void look_at_some_peers() noexcept;
  void bid_farewell(PeerId id, Clock::time_point now, Events& events) noexcept;
  void cancel_receives(PeerId id) noexcept;
  void end_operations(PeerId id, Events& events) noexcept;

  std::string name_;
  Endpoint endpoint_;
  Limits limits_;
  Keys keys_;
  Counters counters_;
  std::vector<std::byte> address_;
  std::unique_ptr<OpenEndpoint> open_;
  std::vector<Peer> peers_;
  OperationPool transmits_;
  OperationPool receives_;
  std::vector<Operation> buffer_operations_;
  std::vector<std::byte> buffer_memory_;
  std::unique_ptr<RegisteredMemory> buffer_registration_;
  std::vector<Operation*> late_buffers_;  ///< that the device did not take back at once
  std::uint64_t polls_ = 0;
  std::uint64_t watches_ = 0;
  std::size_t next_process_ = 0;  ///< the peer whose process is looked at next
  std::size_t next_port_ = 0;     ///< the peer whose port is being tried
  Clock::time_point next_watch_{};
  bool doorbell_due_ = false;  ///< the last operation was posted with `more`
};

}  // namespace lath::providers::ofi
