#include <algorithm>
#include <new>

#include "base/config.hpp"
#include "gpu/device.hpp"
#include "gpu/pack_image.hpp"
#include "transport/schemes/factory_state.hpp"
#include "transport/schemes/legality.hpp"
#include "transport/schemes/placement.hpp"
#include "transport/schemes/processor_copy.hpp"

namespace lath::transport {

namespace {

// Hooks are for providers alone that register host memory.
providers::UnmappingListener listener(const providers::Provider& provider) {
  if (!provider.limits().local_registration || !config::boolean("LATH_KEEP_REGISTRATIONS")) return {};
  return providers::UnmappingListener::listen();
}

providers::RegistrationCache::Bounds registration_bounds() {
  return {.entries = static_cast<std::size_t>(config::integer("LATH_KEPT_REGISTRATIONS")),
          .bytes = static_cast<std::size_t>(config::bytes("LATH_KEPT_REGISTERED_BYTES"))};
}

}  // namespace

SchemeFactory::State::State(providers::Provider& used_provider, Counters& used_counters, std::size_t bytes)
    : provider(used_provider),
      unmapping(listener(used_provider)),
      registrations(used_provider, registration_bounds(), unmapping.ranges()),
      counters(used_counters),
      chunk_bytes(bytes),
      array_entries(std::max(list_length(provider.limits(), Direction::send),
                             list_length(provider.limits(), Direction::receive))),
      slots(most_bounce_slots, [] { return std::make_unique<BounceSlot>(); }),
      arrays(most_segment_arrays, [this] { return std::make_unique<SegmentArray>(array_entries); }),
      plain(provider, ChunkPool::Memory::plain, -1, bytes, most_host_chunks) {}

DeviceLane& SchemeFactory::State::lane(int device) {
  const auto index = static_cast<std::size_t>(device);
  if (index >= lanes.size()) lanes.resize(index + 1);
  if (!lanes[index]) {
    lanes[index] = std::make_unique<DeviceLane>(device, provider, chunk_bytes);
    kernels_missing |= lanes[index]->packer() == nullptr;
  }
  if (!pinned)
    pinned = std::make_unique<ChunkPool>(provider, ChunkPool::Memory::pinned, device, chunk_bytes,
                                         most_host_chunks);
  return *lanes[index];
}

namespace {

using Placement = SchemeFactory::Placement;

DevicePath device_path(Scheme scheme, const Buffer& buffer, const Placement& placement,
                       const DeviceLane& lane) {
  if (placement.mixed) return DevicePath::copy_each_segment;
  if (buffer.layout.segment_count() <= 1) return DevicePath::copy;
  if (!lane.has_kernels()) return DevicePath::copy_each_segment;
  return scheme == Scheme::staged ? DevicePath::kernel_and_copy : DevicePath::kernel;
}

/// What either end of a message needs, whichever Source or Sink it becomes.
struct SideMaker {
  SchemeFactory::State& state;
  const SchemeFactory& factory;
  Scheme scheme;
  const Buffer& buffer;
  const Placement& placement;
  Direction direction;

  void check_legal() const {
    const Summary summary = summarise(buffer.layout, placement.memory);
    const Capabilities capabilities = factory.capabilities();
    const providers::Limits& limits = state.provider.limits();
    if (!is_legal(scheme, summary, direction, limits, capabilities, placement.mixed))
      throw Error(Code::not_supported,
                  std::string(name(scheme)) + ": " +
                      legality_reason(scheme, summary, direction, limits, capabilities, placement.mixed));
  }
  [[nodiscard]] bool is_direct() const { return scheme == Scheme::contiguous || scheme == Scheme::gather; }
  [[nodiscard]] bool is_on_device() const { return placement.memory == providers::MemoryKind::device; }

  [[nodiscard]] DirectSide direct() const {
    UserRegistration registration;
    must(
        registration.make(state.registrations, state.provider.limits(), buffer, placement.memory, direction));
    return {buffer, std::move(registration), direction, state.arrays};
  }
  [[nodiscard]] BouncePools host_pools() const {
    must(state.plain.reserve());
    return {state.slots, state.plain, direction};
  }
  [[nodiscard]] DeviceSide device() const {
    DeviceLane& lane = state.lane(placement.device);
    const DevicePath path = device_path(scheme, buffer, placement, lane);
    ChunkPool& chunks = scheme == Scheme::device_pack ? lane.wire_chunks() : state.pinned_chunks();
    must(chunks.reserve());
    if (path == DevicePath::kernel_and_copy) must(lane.scratch_chunks().reserve());
    return {scheme, path, buffer, {state.slots, chunks, direction}, lane, state.counters};
  }
  static void must(Result result) {
    if (result.is_error()) throw Error(result.error());
  }
};

template <class Make>
auto made_or_reason(std::unique_ptr<Error>& why, const Make& make) noexcept -> decltype(make()) {
  try {
    return make();
  } catch (const Error& error) {
    why = std::make_unique<Error>(error);
  } catch (const std::bad_alloc&) {
    why = std::make_unique<Error>(Code::no_memory, "no host memory to set a message up");
  }
  return nullptr;
}

}  // namespace

SchemeFactory::SchemeFactory(providers::Provider& provider, Counters& counters)
    : state_(
          std::make_unique<State>(provider, counters, static_cast<std::size_t>(read_tuning().chunk_bytes))) {}

SchemeFactory::~SchemeFactory() = default;

Capabilities SchemeFactory::capabilities() const noexcept {
  const gpu::Availability& gpu = gpu::availability();
  const bool built = gpu.emulated || gpu::pack_image().fatbin != nullptr;
  return {.gpu = gpu.available,
          .kernels = gpu.available && built && !state_->kernels_missing,
          .bounce_bytes = static_cast<std::int64_t>(state_->chunk_bytes)};
}

SchemeFactory::Placement SchemeFactory::placement(const Buffer& buffer) noexcept {
  return place(buffer);
}

std::unique_ptr<Source> SchemeFactory::source(Scheme scheme, const Buffer& buffer, const Placement& placement,
                                              std::unique_ptr<Error>& why) noexcept {
  const SideMaker side{*state_, *this, scheme, buffer, placement, Direction::send};
  return made_or_reason(why, [&]() -> std::unique_ptr<Source> {
    side.check_legal();
    if (side.is_direct()) return std::make_unique<DirectSource>(scheme, side.direct());
    if (side.is_on_device()) return std::make_unique<DeviceSource>(side.device());
    return std::make_unique<ProcessorSource>(scheme, buffer, side.host_pools(), state_->counters);
  });
}

std::unique_ptr<Sink> SchemeFactory::sink(Scheme scheme, const Buffer& buffer, const Placement& placement,
                                          std::unique_ptr<Error>& why) noexcept {
  const SideMaker side{*state_, *this, scheme, buffer, placement, Direction::receive};
  return made_or_reason(why, [&]() -> std::unique_ptr<Sink> {
    side.check_legal();
    if (side.is_direct()) return std::make_unique<DirectSink>(scheme, side.direct());
    if (side.is_on_device()) return std::make_unique<DeviceSink>(side.device());
    return std::make_unique<ProcessorSink>(scheme, buffer, side.host_pools(), state_->counters);
  });
}

std::unique_ptr<Source> SchemeFactory::source(Scheme scheme, const Buffer& buffer,
                                              std::unique_ptr<Error>& why) noexcept {
  return source(scheme, buffer, placement(buffer), why);
}

std::unique_ptr<Sink> SchemeFactory::sink(Scheme scheme, const Buffer& buffer,
                                          std::unique_ptr<Error>& why) noexcept {
  return sink(scheme, buffer, placement(buffer), why);
}

std::size_t SchemeFactory::memory_bytes() const noexcept {
  std::size_t bytes = state_->plain.bytes();
  if (state_->pinned) bytes += state_->pinned->bytes();
  for (const auto& lane : state_->lanes)
    if (lane) bytes += lane->wire_chunks().bytes() + lane->scratch_chunks().bytes();
  bytes += state_->slots.made() * sizeof(BounceSlot);
  bytes += state_->arrays.made() * state_->array_entries * sizeof(providers::Segment);
  return bytes;
}

std::size_t SchemeFactory::memory_limit_bytes() const noexcept {
  const auto devices = static_cast<std::size_t>(std::max(gpu::availability().device_count, 0));
  const std::size_t chunks = State::most_host_chunks + (devices > 0 ? State::most_host_chunks : 0) +
                             devices * 2 * DeviceLane::most_chunks;
  return chunks * state_->chunk_bytes + State::most_bounce_slots * sizeof(BounceSlot) +
         State::most_segment_arrays * state_->array_entries * sizeof(providers::Segment);
}

}  // namespace lath::transport
