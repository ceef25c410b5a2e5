#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <utility>

#include "providers/ofi/provider.hpp"

/// Writes that have one completion together. Each has an operation of its own, which counts in the queue.
namespace lath::providers::ofi {

Result OfiProvider::write_in_batch(PeerId id, std::span<const Segment> local,
                                   std::span<const RemoteSegment> remote, Context context,
                                   unsigned flags) noexcept {
  Result result = Result::done();
  Peer* peer = find(id, std::max(local.size(), remote.size()), result);
  if (peer == nullptr && (id >= peers_.size() || peers_[id].batch == nullptr)) return result;
  if (!limits_.rma) return Result::failure(Code::not_supported, name_ + " has no RMA");
  if (context == nullptr && (flags & more) == 0)
    return Result::failure(Code::invalid_argument, "a write without a context is followed by others");
  Operation*& batch = peers_[id].batch;
  const bool begins = batch == nullptr;
  if (begins) {
    batch = transmits_.take(OperationKind::transmit, id, nullptr);
    if (batch == nullptr) return Result::again();
  }
  // A dead peer, or a part that failed, is told when the batch ends.
  if (result.is_done() && batch->failure == nullptr)
    result = post_part(id, local, remote, batch, context != nullptr, flags);
  if (!result.is_done() && begins) {
    transmits_.give_back(batch);
    batch = nullptr;
    return result;
  }
  if (result.is_again()) return result;
  if (result.is_error() && batch->failure == nullptr) batch->failure = result.take_error();
  return context != nullptr ? close_batch(peers_[id], context) : Result::done();
}

Result OfiProvider::post_part(PeerId id, std::span<const Segment> local,
                              std::span<const RemoteSegment> remote, Operation* batch, bool last,
                              unsigned flags) noexcept {
  Operation* part = transmits_.take(OperationKind::transmit, id, nullptr);
  if (part == nullptr) return Result::again();
  flags = followed(flags);
  std::uint64_t level = FI_DELIVERY_COMPLETE;
  // What the last one makes visible after all before it have arrived, all before it need not make so.
  if (endpoint_.fence) level = last ? FI_FENCE | FI_DELIVERY_COMPLETE : FI_TRANSMIT_COMPLETE;
  const std::uint64_t held = (flags & more) != 0 ? FI_MORE : 0;
  Result result = posted(post_rma(Way::write, peers_[id], local, remote, part, held | level), transmits_,
                         part, "write to");
  if (!result.is_done()) return result;
  part->batch = batch;
  ++batch->parts;
  count(local, flags);
  return result;
}

Result OfiProvider::close_batch(Peer& peer, Context context) noexcept {
  Operation* batch = std::exchange(peer.batch, nullptr);
  const bool lost = peer.farewell == Farewell::complete;
  if (batch->parts > 0 && !lost) {
    batch->user = context;
    return Result::done();
  }
  // Nothing of it is under way, or nothing that would end: it failed, else the last part were.
  Result result = Result::failure(*std::exchange(batch->failure, nullptr));
  if (batch->parts == 0) transmits_.give_back(batch);
  return result;
}

void OfiProvider::end_part(Operation* part, const Error* error, Events& events) noexcept {
  Operation* batch = std::exchange(part->batch, nullptr);
  transmits_.give_back(part);
  if (error != nullptr && batch->failure == nullptr) batch->failure = std::make_unique<Error>(*error);
  if (--batch->parts > 0 || peers_[batch->peer].batch == batch) return;
  const Context user = batch->user;
  const std::unique_ptr<Error> failure = std::move(batch->failure);
  transmits_.give_back(batch);
  if (user != nullptr) events.on_completion(user, 0, failure.get());
}

}  // namespace lath::providers::ofi
