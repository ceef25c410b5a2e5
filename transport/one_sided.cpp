#include "transport/one_sided.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "datatypes/wire_codec.hpp"
#include "transport/engine.hpp"

namespace lath::transport {
Result OneSided::start(Request& request, const RegionKey& key, std::int64_t offset, const Layout& target) {
  const Peer& peer = *request.peer;
  if (peer.dead != nullptr) return Result::failure(*peer.dead);
  if (key.worker != peer.worker())
    return Result::failure(Code::invalid_argument,
                           fmt::format("the key is not of a region of {}", peer.name()));
  if (target.bytes() != request.data.bytes)
    return Result::failure(Code::invalid_argument, fmt::format("the origin has {} bytes and the target {}",
                                                               request.data.bytes, target.bytes()));
  request.status = {peer.source(), 0, request.data.bytes};
  if (request.data.bytes == 0) {
    engine_.complete(request);
    return Result::done();
  }
  const bool inside = offset >= -target.lowest() && offset <= INT64_MAX - target.highest() &&
                      static_cast<std::uint64_t>(offset + target.highest()) <= key.bytes;
  if (!inside)
    return Result::failure(
        Code::invalid_argument,
        fmt::format("the target elements at offset {} reach outside the region of {} bytes", offset,
                    key.bytes));
  request.state = Request::State::active;
  engine_.count_message(request);
  request.one_sided = std::make_unique<OneSidedState>();
  request.one_sided->request = &request;
  const Data placed = Data::of(nullptr, target);
  const bool direct =
      engine_.limits().rma && !request.data.layout && !placed.layout && !request.device && !tuning().forced;
  if (direct) return start_direct(request, key, offset + target.lowest());
  start_message(request, key, offset, target);
  return Result::done();
}

void OneSided::start_message(Request& request, const RegionKey& key, std::int64_t offset,
                             const Layout& target) {
  request.announced = true;
  const std::vector<std::byte> layout = encode(target);
  const std::size_t part = engine_.outbox().frame_bytes() - sizeof(wire::OneSided);
  const std::size_t first = std::min(part, layout.size());
  const std::span<const std::byte> bytes(layout);
  wire::OneSided message;
  message.request = request.id();
  message.region = key.id;
  message.secret = key.secret;
  message.offset = offset;
  message.layout_bytes = layout.size();
  message.side = wire::to_wire(engine_.summary(request), request.mixed);
  const wire::Kind kind = request.kind == Request::Kind::get ? wire::Kind::get : wire::Kind::put;
  engine_.outbox().post(*request.peer, kind, message, bytes.first(first));
  for (std::size_t at = first; at < layout.size(); at += part) {
    wire::LayoutPart more;
    more.request = request.id();
    more.offset = at;
    engine_.outbox().post(*request.peer, wire::Kind::layout_part, more,
                          bytes.subspan(at, std::min(part, layout.size() - at)));
  }
}

void OneSided::on_operation(Peer& peer, const wire::OneSided& operation, std::span<const std::byte> layout) {
  if (layout.size() == operation.layout_bytes) return serve(peer, operation, layout);
  if (operation.layout_bytes > most_layout_bytes - layout_bytes_)
    return engine_.send_abort(peer, operation.request,
                              Error(Code::no_memory, "too many long layouts are under way to the target"));
  Pending& pending = pending_[{&peer, operation.request}];
  layout_bytes_ += operation.layout_bytes - pending.layout.capacity();
  pending.operation = operation;
  pending.layout.assign(layout.begin(), layout.end());
  pending.layout.reserve(operation.layout_bytes);
}

void OneSided::on_layout_part(Peer& peer, const wire::LayoutPart& part, std::span<const std::byte> bytes) {
  const auto found = pending_.find({&peer, part.request});
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  const std::size_t whole = pending.operation.layout_bytes;
  const bool fits = part.offset == pending.layout.size() && bytes.size() <= whole - pending.layout.size();
  if (fits) pending.layout.insert(pending.layout.end(), bytes.begin(), bytes.end());
  if (fits && pending.layout.size() < whole) return;
  const Pending complete = std::move(pending);
  pending_.erase(found);
  layout_bytes_ -= std::min(layout_bytes_, complete.layout.capacity());
  if (fits) return serve(peer, complete.operation, complete.layout);
  engine_.send_abort(peer, part.request, Error(Code::corrupt, "a part of a layout does not fit the others"));
}

std::unique_ptr<Error> OneSided::check(const Peer& peer, const wire::OneSided& operation,
                                       std::span<const std::byte> bytes, Data& target) const {
  const Region* found = find_region(operation.region, operation.secret);
  if (found == nullptr)
    return std::make_unique<Error>(Code::invalid_argument,
                                   fmt::format("{} names a region that is not open", peer.name()));
  const Region& region = *found;
  try {
    const Layout layout = decode_layout(bytes);
    const std::int64_t offset = operation.offset;
    if (layout.bytes() != operation.side.bytes || layout.bytes() == 0)
      return std::make_unique<Error>(Code::invalid_argument, "origin and target differ in size");
    if (offset < -layout.lowest() || offset > INT64_MAX - layout.highest() ||
        static_cast<std::uint64_t>(offset + layout.highest()) > region.bytes)
      return std::make_unique<Error>(
          Code::invalid_argument,
          fmt::format("the target elements reach outside the region of {} bytes", region.bytes));
    target = Data::of(region.address + offset, layout);
  } catch (const Error& error) {
    return std::make_unique<Error>(error);
  }
  return nullptr;
}

void OneSided::serve(Peer& peer, const wire::OneSided& operation, std::span<const std::byte> layout) {
  Data target;
  if (const auto why = check(peer, operation, layout, target))
    return engine_.send_abort(peer, operation.request, *why);
  const bool is_get = operation.header.kind == wire::Kind::get;
  Result result = Result::done();
  Request* request = engine_.make(is_get ? Request::Kind::send : Request::Kind::receive, target, result);
  if (request == nullptr) return engine_.send_abort(peer, operation.request, result.error());
  request->peer = &peer;
  request->detached = true;
  request->key = {0, peer.source(), 0};
  request->one_sided = std::make_unique<OneSidedState>();
  request->one_sided->origin = operation.request;
  request->state = Request::State::active;
  if (is_get) {
    result = engine_.outbox().start(*request);
    if (result.is_error()) engine_.fail(*request, result.error());
    return;
  }
  Envelope& envelope = engine_.envelopes().take();
  envelope.key = request->key;
  envelope.peer = &peer;
  envelope.sender = operation.request;
  envelope.set_side(operation.side);
  engine_.rendezvous().matched(*request, envelope);
}

void OneSided::ended(Request& request) {
  const std::uint64_t origin = request.one_sided->origin;
  if (request.error != nullptr) return engine_.send_abort(*request.peer, origin, *request.error);
  if (request.kind != Request::Kind::receive) return;
  wire::Placed message;
  message.request = origin;
  engine_.outbox().post(*request.peer, wire::Kind::placed, message);
}

void OneSided::sent(Request& request) {
  OneSidedState& state = *request.one_sided;
  state.sent = true;
  if (state.placed) engine_.complete(request);
}

void OneSided::on_placed(Peer& peer, const wire::Placed& placed) {
  Request* request = engine_.find(placed.request, peer, "placed");
  if (request == nullptr) return;
  if (request->kind != Request::Kind::put || !request->announced)
    return engine_.corrupt(peer, *request, "a placed for a request that is not a put");
  request->one_sided->placed = true;
  if (request->one_sided->sent) engine_.complete(*request);
}

void OneSided::lose(Peer& peer, const Error& why) {
  std::erase_if(pending_, [&](const auto& entry) {
    if (entry.first.first != &peer) return false;
    layout_bytes_ -= std::min(layout_bytes_, entry.second.layout.capacity());
    return true;
  });
  std::erase_if(admissions_, [&](const auto& entry) { return std::get<0>(entry.first) == &peer; });
  for (Request* request : direct_)
    if (request->peer == &peer && request->one_sided->error == nullptr)
      request->one_sided->error = std::make_unique<Error>(why);
}

}  // namespace lath::transport
