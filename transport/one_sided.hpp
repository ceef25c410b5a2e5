#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "providers/provider.hpp"
#include "transport/operation.hpp"
#include "transport/region.hpp"
#include "transport/request.hpp"
#include "transport/scheme.hpp"
#include "transport/wire.hpp"

namespace lath::transport {

struct RmaSlot final : Operation {
  OneSidedState* state = nullptr;
  Slot slot;
  bool ended = false;

  void completed(std::size_t bytes, const Error* error) override;
};

/// What a one-sided request is besides a message: at the origin where it is read or written directly, at the
/// target whom it answers.
struct OneSidedState {
  Request* request = nullptr;
  std::uint64_t origin = 0;  ///< at the target: the origin's request
  bool sent = false;         ///< at the origin of a put: the data has left
  bool placed = false;       ///< and is in place

  RegionKey key;
  std::shared_ptr<const Admission> admission;
  std::int64_t offset = 0;  ///< of the data in the region
  std::unique_ptr<Source> source;
  std::unique_ptr<Sink> sink;
  std::array<RmaSlot, 4> slots;
  std::int64_t begun = 0, issued = 0, retired = 0;
  std::int64_t chunk_bytes = 0;
  std::unique_ptr<Error> error;
};

/// Put and get of a worker, both ends.
class OneSided {
 public:
  explicit OneSided(Engine& engine) : engine_(engine) {}

  /// Throws Error(bad_address) where the memory is not there.
  Region& open(void* address, std::size_t bytes);
  void close(Region& region) noexcept;

  /// Starts a put or get between `request.data` and the target layout at `offset` of the region.
  Result start(Request& request, const RegionKey& key, std::int64_t offset, const Layout& target);

  void on_operation(Peer& peer, const wire::OneSided& operation, std::span<const std::byte> layout);
  void on_layout_part(Peer& peer, const wire::LayoutPart& part, std::span<const std::byte> bytes);
  void on_placed(Peer& peer, const wire::Placed& placed);
  // Who may reach which region directly (region.cpp).
  void on_region_open(Peer& peer, const wire::RegionState& asked);
  void on_region_opened(Peer& peer, const wire::RegionState& granted);
  void on_region_closed(Peer& peer, const wire::RegionState& closed);
  /// The data of a put has left its origin.
  void sent(Request& request);
  /// An operation has come to its end at the target: tells the origin.
  void ended(Request& request);
  void lose(Peer& peer, const Error& why);
  void progress();
  [[nodiscard]] bool idle() const noexcept { return direct_.empty(); }
  void drop_all() noexcept;
  void abandon(const Error& why);
  /// Whether the request's data is read or written directly.
  [[nodiscard]] bool holds(const Request& request) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return layout_bytes_; }
  /// Encoded layouts that may be under way to this worker, bytes.
  static constexpr std::size_t most_layout_bytes = std::size_t{128} << 20;

 private:
  struct Pending {
    wire::OneSided operation;
    std::vector<std::byte> layout;
  };

  [[nodiscard]] Region* find_region(std::uint64_t id, std::uint64_t secret) const noexcept;
  /// What is known of the peer's region; asks the peer where nothing is.
  std::shared_ptr<const Admission> admission(Peer& peer, const RegionKey& key);
  void start_message(Request& request, const RegionKey& key, std::int64_t offset, const Layout& target);
  Result start_direct(Request& request, const RegionKey& key, std::int64_t offset);
  void serve(Peer& peer, const wire::OneSided& operation, std::span<const std::byte> layout);
  /// Why an operation may not touch the region, or null with where it does.
  std::unique_ptr<Error> check(const Peer& peer, const wire::OneSided& operation,
                               std::span<const std::byte> layout, Data& target) const;
  /// One step of a direct operation; true where it has ended, or goes on by messages.
  bool step(Request& request);
  void check_admission(OneSidedState& state);
  Result advance(OneSidedState& state);
  Result issue(OneSidedState& state);
  bool retire(OneSidedState& state);

  Engine& engine_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::map<std::tuple<Peer*, std::uint64_t, std::uint64_t>, std::shared_ptr<Admission>> admissions_;
  std::map<std::pair<Peer*, std::uint64_t>, Pending> pending_;
  std::vector<Request*> direct_;
  std::size_t layout_bytes_ = 0;
  std::uint64_t next_region_ = 1;
};

}  // namespace lath::transport
