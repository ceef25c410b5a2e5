#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "providers/provider.hpp"
#include "providers/verbs/connection.hpp"

namespace lath::providers::verbs {

/// A Provider over one port of an RDMA device: reliable queue pairs a peer, made on first use, their lists
/// gathered and scattered by the device.
class VerbsProvider final : public Provider {
 public:
  /// Posts the receive buffers. Throws Error.
  VerbsProvider(std::string name, Device device);
  /// Waits, a second at most, until peers have what was accepted for them, and tells them that it goes.
  ~VerbsProvider() override;

  [[nodiscard]] std::string name() const override { return shared_.name; }
  [[nodiscard]] const Limits& limits() const noexcept override { return shared_.limits; }
  /// For the checks at opening, which correct what does not hold.
  [[nodiscard]] Limits& adjust_limits() noexcept { return shared_.limits; }
  [[nodiscard]] std::vector<std::byte> address() const override { return encode(shared_.own); }
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

  [[nodiscard]] const Counters& counters() const noexcept override { return shared_.counters; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept override;

 private:
  /// The connection of a peer, or null with the failure in `result`.
  Connection* find(PeerId peer, Result& result) noexcept;
  /// The same, or null with `again` while it is being made.
  Connection* ready(PeerId peer, Result& result) noexcept;
  Connection& connection_to(const Address& address);
  Result rma(ibv_wr_opcode way, PeerId peer, std::span<const Segment> local,
             std::span<const RemoteSegment> remote, Context context, unsigned flags) noexcept;
  bool poll_completions(Events& events) noexcept;
  void on_completion(const ibv_wc& completion, Events& events) noexcept;
  void on_control(const ibv_wc& completion, Events& events) noexcept;
  bool poll_datagrams() noexcept;
  void tick() noexcept;
  bool attend(Events& events, bool quiet) noexcept;
  void drain() noexcept;

  Shared shared_;
  std::vector<std::unique_ptr<Connection>> connections_;      ///< by their number, which is the PeerId
  std::unordered_map<std::uint64_t, Connection*> by_worker_;  ///< the latest one to each
  std::vector<Connection*> attended_;
  std::uint64_t polls_ = 0;
};

}  // namespace lath::providers::verbs
