#include "transport/schemes/bounce.hpp"

#include <fmt/format.h>

namespace lath::transport {

Result BouncePools::take(PackedRange range, Slot& slot) noexcept {
  slot = {.range = range, .list = {}, .state = nullptr};
  if (range.bytes() <= 0) return Result::done();
  const auto bytes = static_cast<std::size_t>(range.bytes());
  if (bytes > chunks_.chunk_bytes())
    return Result::failure(
        Code::internal,
        fmt::format("a chunk of {} bytes is longer than a bounce buffer's {}", bytes, chunks_.chunk_bytes()));
  BounceSlot* state = nullptr;
  if (Result taken = slots_.take(direction_, state); !taken.is_done()) return taken;
  *state = {};
  if (Result taken = chunks_.take(direction_, state->chunk); !taken.is_done()) {
    slots_.give(state, direction_);
    return taken;
  }
  state->segment = {state->chunk->address, bytes, state->chunk->registration};
  slot.list = {&state->segment, 1};
  slot.state = state;
  return Result::done();
}

void BouncePools::give(Slot& slot) noexcept {
  if (auto* state = static_cast<BounceSlot*>(slot.state)) {
    chunks_.give(state->chunk, direction_);
    slots_.give(state, direction_);
  }
  slot = {};
}

}  // namespace lath::transport
