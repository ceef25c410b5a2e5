#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "providers/ofi/failure.hpp"
#include "providers/ofi/provider.hpp"

/// The operations that a worker hands over.
namespace lath::providers::ofi {
namespace {

/// A list as libfabric takes it.
class Vectors {
 public:
  explicit Vectors(std::span<const Segment> list) noexcept : count_(list.size()) {
    for (std::size_t i = 0; i < count_; ++i) {
      entries_[i] = {list[i].address, list[i].length};
      const auto* registered = static_cast<const RegisteredMemory*>(list[i].registration);
      descriptors_[i] = registered != nullptr ? registered->descriptor() : nullptr;
    }
  }
  [[nodiscard]] const iovec* entries() const noexcept { return entries_.data(); }
  [[nodiscard]] void** descriptors() noexcept { return descriptors_.data(); }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::size_t count_;
  std::array<iovec, longest_list> entries_;
  std::array<void*, longest_list> descriptors_;
};

std::uint64_t more_bit(unsigned flags) noexcept {
  return (flags & more) != 0 ? FI_MORE : 0;
}

}  // namespace

OfiProvider::Peer* OfiProvider::find(PeerId peer, std::size_t list_length, Result& result) noexcept {
  if (peer >= peers_.size() || !peers_[peer].connected) {
    result = Result::failure(Code::invalid_argument, "peer " + std::to_string(peer) + " is not connected");
    return nullptr;
  }
  if (list_length > longest_list) {
    result = Result::failure(Code::invalid_argument,
                             "a list of " + std::to_string(list_length) + " segments is beyond limits()");
    return nullptr;
  }
  if (peers_[peer].watch.dead()) {
    result =
        Result::failure(Code::unreachable, peers_[peer].text + ": " + peers_[peer].watch.reason(), name_);
    return nullptr;
  }
  return &peers_[peer];
}

Result OfiProvider::posted(long status, OperationPool& pool, Operation* operation,
                           const char* doing) noexcept {
  Peer& peer = peers_[operation->peer];
  if (status == 0) {
    peer.watch.accepted();
    return Result::done();
  }
  pool.give_back(operation);
  if (status == -FI_EAGAIN) {
    peer.watch.refused();
    return Result::again();
  }
  // A full queue is reported so too; it empties as long as something is under way.
  if ((status == -FI_ENOMEM || status == -FI_ENOBUFS) && pool.in_use() > 0) return Result::again();
  return Result::failure(failure(status, std::string(doing) + ' ' + peer.text));
}

void OfiProvider::count(std::span<const Segment> list, unsigned flags) noexcept {
  ++counters_.work_requests;
  doorbell_due_ = (flags & more) != 0;
  if (!doorbell_due_) ++counters_.doorbells;
  for (const Segment& segment : list) counters_.wire_bytes += segment.length;
}

Result OfiProvider::inject(Peer& peer, std::span<const Segment> list) noexcept {
  std::array<std::byte, most_injected> copy;
  const void* data = list.empty() ? nullptr : list.front().address;
  std::size_t length = list.empty() ? 0 : list.front().length;
  if (list.size() > 1) {
    length = 0;
    for (const Segment& segment : list) {
      if (segment.length > limits_.inject_bytes - length)
        return Result::failure(Code::invalid_argument, "more is injected than limits().inject_bytes");
      std::memcpy(copy.data() + length, segment.address, segment.length);
      length += segment.length;
    }
    data = copy.data();
  }
  const long status = fi_inject(endpoint_.handle.get(), data, length, peer.address);
  if (status == -FI_EAGAIN) {
    peer.watch.refused();
    return Result::again();
  }
  if (status != 0) return Result::failure(failure(status, "send to " + peer.text));
  peer.watch.accepted();
  count(list, 0);
  return Result::done();
}

Result OfiProvider::send(PeerId id, std::span<const Segment> list, Context context, unsigned flags) noexcept {
  Result result = Result::done();
  Peer* peer = find(id, list.size(), result);
  if (peer == nullptr) return result;
  if (context == nullptr) return inject(*peer, list);
  Operation* operation = transmits_.take(OperationKind::transmit, id, context);
  if (operation == nullptr) return Result::again();
  flags = followed(flags);
  Vectors vectors(list);
  fi_msg message{};
  message.msg_iov = vectors.entries();
  message.desc = vectors.descriptors();
  message.iov_count = vectors.count();
  message.addr = peer->address;
  message.context = operation;
  result =
      posted(fi_sendmsg(endpoint_.handle.get(), &message, more_bit(flags)), transmits_, operation, "send to");
  if (result.is_done()) count(list, flags);
  return result;
}

Result OfiProvider::send_tagged(PeerId id, std::span<const Segment> list, std::uint64_t tag, Context context,
                                unsigned flags) noexcept {
  Result result = Result::done();
  Peer* peer = find(id, list.size(), result);
  if (peer == nullptr) return result;
  Operation* operation = transmits_.take(OperationKind::transmit, id, context);
  if (operation == nullptr) return Result::again();
  flags = followed(flags);
  Vectors vectors(list);
  fi_msg_tagged message{};
  message.msg_iov = vectors.entries();
  message.desc = vectors.descriptors();
  message.iov_count = vectors.count();
  message.addr = peer->address;
  message.tag = tag;
  message.context = operation;
  result = posted(fi_tsendmsg(endpoint_.handle.get(), &message, more_bit(flags)), transmits_, operation,
                  "tagged send to");
  if (result.is_done()) count(list, flags);
  return result;
}

Result OfiProvider::receive_tagged(PeerId id, std::span<const Segment> list, std::uint64_t tag,
                                   Context context) noexcept {
  Result result = Result::done();
  if (find(id, list.size(), result) == nullptr) return result;
  Operation* operation = receives_.take(OperationKind::tagged_receive, id, context);
  if (operation == nullptr) return Result::again();
  Vectors vectors(list);
  fi_msg_tagged message{};
  message.msg_iov = vectors.entries();
  message.desc = vectors.descriptors();
  message.iov_count = vectors.count();
  // Not directed: few devices match by peer at no cost, and tags are unambiguous by contract.
  message.addr = FI_ADDR_UNSPEC;
  message.tag = tag;
  message.context = operation;
  return posted(fi_trecvmsg(endpoint_.handle.get(), &message, 0), receives_, operation,
                "tagged receive from");
}

void OfiProvider::cancel(Context context) noexcept {
  Operation* operation = receives_.find(OperationKind::tagged_receive, context);
  if (operation == nullptr) return;
  operation->cancelled = true;
  fi_cancel(&endpoint_.handle.get()->fid, operation);
}

long OfiProvider::post_rma(Way way, const Peer& peer, std::span<const Segment> local,
                           std::span<const RemoteSegment> remote, Operation* operation,
                           std::uint64_t flags) noexcept {
  Vectors vectors(local);
  std::array<fi_rma_iov, longest_list> targets;
  for (std::size_t i = 0; i < remote.size(); ++i)
    targets[i] = {remote[i].address, remote[i].length, remote[i].key};
  fi_msg_rma message{};
  message.msg_iov = vectors.entries();
  message.desc = vectors.descriptors();
  message.iov_count = vectors.count();
  message.addr = peer.address;
  message.rma_iov = targets.data();
  message.rma_iov_count = remote.size();
  message.context = operation;
  fid_ep* endpoint = endpoint_.handle.get();
  return way == Way::write ? fi_writemsg(endpoint, &message, flags) : fi_readmsg(endpoint, &message, flags);
}

Result OfiProvider::rma(Way way, PeerId id, std::span<const Segment> local,
                        std::span<const RemoteSegment> remote, Context context, unsigned flags) noexcept {
  Result result = Result::done();
  Peer* peer = find(id, std::max(local.size(), remote.size()), result);
  if (peer == nullptr) return result;
  if (!limits_.rma) return Result::failure(Code::not_supported, name_ + " has no RMA");
  Operation* operation = transmits_.take(OperationKind::transmit, id, context);
  if (operation == nullptr) return Result::again();
  flags = followed(flags);
  const bool writes = way == Way::write;
  const long status =
      post_rma(way, *peer, local, remote, operation, more_bit(flags) | (writes ? FI_DELIVERY_COMPLETE : 0));
  result = posted(status, transmits_, operation, writes ? "write to" : "read from");
  if (result.is_done()) count(local, flags);
  return result;
}

Result OfiProvider::write(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
                          Context context, unsigned flags) noexcept {
  const bool in_batch = context == nullptr || (peer < peers_.size() && peers_[peer].batch != nullptr);
  return in_batch ? write_in_batch(peer, local, remote, context, flags)
                  : rma(Way::write, peer, local, remote, context, flags);
}

Result OfiProvider::read(PeerId peer, std::span<const Segment> local, std::span<const RemoteSegment> remote,
                         Context context, unsigned flags) noexcept {
  return rma(Way::read, peer, local, remote, context, flags);
}

}  // namespace lath::providers::ofi
