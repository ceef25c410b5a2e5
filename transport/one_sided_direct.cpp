#include <fmt/format.h>

#include <algorithm>

#include "transport/engine.hpp"
#include "transport/one_sided.hpp"

/// Puts and gets that the NIC carries out alone: both sides contiguous in host memory.
namespace lath::transport {

void RmaSlot::completed(std::size_t, const Error* error) {
  ended = true;
  if (error == nullptr) return;
  if (state->error == nullptr) state->error = std::make_unique<Error>(*error);
  state->request->engine->note_failure(*state->request->peer, *error);
}

Result OneSided::start_direct(Request& request, const RegionKey& key, std::int64_t offset) {
  OneSidedState& state = *request.one_sided;
  state.key = key;
  state.admission = admission(*request.peer, key);
  state.offset = offset;
  const providers::Limits& limits = engine_.limits();
  const std::size_t largest = std::min<std::size_t>(limits.max_message, INT64_MAX);
  state.chunk_bytes = std::min(request.data.bytes, static_cast<std::int64_t>(largest));
  for (RmaSlot& slot : state.slots) slot.state = &state;
  const Buffer buffer = engine_.buffer(request.data);
  std::unique_ptr<Error> why;
  if (request.kind == Request::Kind::put)
    state.source = engine_.factory().source(Scheme::contiguous, buffer, why);
  else
    state.sink = engine_.factory().sink(Scheme::contiguous, buffer, why);
  if (state.source == nullptr && state.sink == nullptr) {
    start_message(request, key, offset, Layout::contiguous(request.data.bytes));
    return Result::done();
  }
  engine_.moved(request, Scheme::contiguous);
  direct_.push_back(&request);
  return Result::done();
}

Result OneSided::issue(OneSidedState& state) {
  Request& request = *state.request;
  RmaSlot& slot = state.slots[static_cast<std::size_t>(state.issued) % state.slots.size()];
  const std::int64_t begin = state.issued * state.chunk_bytes;
  const PackedRange range{begin, std::min(request.data.bytes, begin + state.chunk_bytes)};
  if (state.begun == state.issued) {
    Result result =
        state.source ? state.source->begin(range, slot.slot) : state.sink->begin(range, slot.slot);
    if (!result.is_done()) return result;
    ++state.begun;
  }
  if (state.source != nullptr) {
    Result result = state.source->ready(slot.slot);
    if (!result.is_done()) return result;
  }
  const providers::RemoteSegment remote{
      state.admission->rma_address + static_cast<std::uint64_t>(state.offset + begin),
      static_cast<std::size_t>(range.bytes()), state.admission->rma_key};
  providers::Provider& provider = engine_.provider();
  const providers::PeerId peer = request.peer->id;
  const std::span<const providers::RemoteSegment> remotes(&remote, 1);
  slot.ended = false;
  Result result = state.source != nullptr ? provider.write(peer, slot.slot.list, remotes, &slot, 0)
                                          : provider.read(peer, slot.slot.list, remotes, &slot, 0);
  if (!result.is_done()) return result;
  engine_.operation_started();
  ++state.issued;
  return result;
}

// Gives the oldest operation back; true where it was there and had ended.
bool OneSided::retire(OneSidedState& state) {
  if (state.retired == state.issued) return false;
  RmaSlot& slot = state.slots[static_cast<std::size_t>(state.retired) % state.slots.size()];
  if (!slot.ended) return false;
  if (state.source != nullptr) {
    state.source->release(slot.slot);
  } else {
    if (state.error == nullptr) {
      Result result = state.sink->arrived(slot.slot, slot.slot.range.bytes());
      if (result.is_done()) result = state.sink->finished(slot.slot);
      if (result.is_again()) return false;
      if (result.is_error()) state.error = result.take_error();
    }
    state.sink->release(slot.slot);
  }
  ++state.retired;
  return true;
}

Result OneSided::advance(OneSidedState& state) {
  const std::int64_t chunks = (state.request->data.bytes - 1) / state.chunk_bytes + 1;
  const auto slots = static_cast<std::int64_t>(state.slots.size());
  while (retire(state)) {
  }
  while (state.error == nullptr && state.issued < chunks && state.issued - state.retired < slots) {
    Result result = issue(state);
    if (result.is_again()) break;
    if (result.is_error()) {
      engine_.note_failure(*state.request->peer, result.error());
      state.error = result.take_error();
    }
  }
  if (state.error != nullptr && state.begun > state.issued) {
    RmaSlot& slot = state.slots[static_cast<std::size_t>(state.issued) % state.slots.size()];
    state.source != nullptr ? state.source->release(slot.slot) : state.sink->release(slot.slot);
    --state.begun;
  }
  if (state.retired < state.issued) return Result::again();
  if (state.error != nullptr) return Result::failure(*state.error);
  return state.retired == chunks ? Result::done() : Result::again();
}

// A region that is not what its key says: the request ends as soon as nothing of it is under way.
void OneSided::check_admission(OneSidedState& state) {
  const Admission& admission = *state.admission;
  const Request& request = *state.request;
  if (state.error != nullptr) return;
  if (admission.state == Admission::State::ended)
    state.error = std::make_unique<Error>(*admission.error);
  else if (state.issued > 0)
    return;
  else if (static_cast<std::uint64_t>(state.offset + request.data.bytes) > admission.bytes)
    state.error = std::make_unique<Error>(
        Code::invalid_argument, fmt::format("the region at {} has {} bytes, and its key another number",
                                            request.peer->name(), admission.bytes));
  else if (request.kind == Request::Kind::put && !admission.writable)
    state.error = std::make_unique<Error>(
        Code::bad_address, fmt::format("the region at {} may not be written", request.peer->name()));
}

bool OneSided::step(Request& request) {
  OneSidedState& state = *request.one_sided;
  if (state.admission->state == Admission::State::asked && state.error == nullptr) return false;
  check_admission(state);
  const bool admitted = state.error == nullptr;
  Result result = Result::done();
  bool by_messages = admitted && !state.admission->rma;
  if (!by_messages) {
    result = advance(state);
    if (result.is_again()) return false;
    // What was refused before anything moved, such as a registration, goes by messages.
    by_messages = admitted && result.is_error() && state.issued == 0 && request.peer->dead == nullptr;
  }
  if (by_messages) {
    state.source.reset();
    state.sink.reset();
    start_message(request, state.key, state.offset, Layout::contiguous(request.data.bytes));
  } else if (result.is_error())
    engine_.fail(request, result.error());
  else
    engine_.complete(request);
  return true;
}

void OneSided::progress() {
  std::erase_if(direct_, [this](Request* request) { return step(*request); });
}

void OneSided::drop_all() noexcept {
  for (Request* request : direct_) {
    OneSidedState& state = *request->one_sided;
    for (; state.retired < state.begun; ++state.retired) {
      RmaSlot& slot = state.slots[static_cast<std::size_t>(state.retired) % state.slots.size()];
      state.source != nullptr ? state.source->release(slot.slot) : state.sink->release(slot.slot);
    }
  }
  direct_.clear();
}

void OneSided::abandon(const Error& why) {
  const std::vector<Request*> requests = direct_;
  drop_all();
  for (Request* request : requests) engine_.fail(*request, why);
}

bool OneSided::holds(const Request& request) const noexcept {
  return std::find(direct_.begin(), direct_.end(), &request) != direct_.end();
}

}  // namespace lath::transport
