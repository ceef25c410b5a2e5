#include "transport/region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "base/log.hpp"
#include "gpu/device.hpp"
#include "transport/engine.hpp"

/// Regions: opening and closing them at the target, and asking for them at the origin.
namespace lath::transport {
namespace {

constexpr std::array<char, 8> magic{'L', 'A', 'T', 'H', 'r', 'g', 'n', '1'};

std::uint64_t random_secret() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

std::vector<std::byte> Region::key() const {
  const RegionKey key{.worker = engine->id(), .id = id, .secret = secret, .bytes = bytes};
  std::vector<std::byte> out(magic.size() + sizeof key);
  std::memcpy(out.data(), magic.data(), magic.size());
  std::memcpy(out.data() + magic.size(), &key, sizeof key);
  return out;
}

RegionKey RegionKey::decode(std::span<const std::byte> bytes) {
  RegionKey key;
  if (bytes.size() != magic.size() + sizeof key || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    throw Error(Code::invalid_argument, fmt::format("{} bytes that are not a region's key", bytes.size()));
  std::memcpy(&key, bytes.data() + magic.size(), sizeof key);
  return key;
}

Region& OneSided::open(void* address, std::size_t bytes) {
  const Data all{address, static_cast<std::int64_t>(bytes), {}};
  const Result readable = check_memory(all, Access::read).result;
  if (readable.is_error()) throw Error(readable.error());
  auto region = std::make_unique<Region>();
  region->engine = &engine_;
  region->address = static_cast<std::byte*>(address);
  region->bytes = bytes;
  region->id = next_region_++;
  region->secret = random_secret();
  region->writable = check_memory(all, Access::write).result.is_done();
  const bool device = gpu::memory_info(address).kind == gpu::MemoryKind::device;
  if (engine_.limits().rma && bytes > 0 && !device) {
    std::unique_ptr<Error> why;
    region->registration = engine_.provider().register_memory(address, bytes, providers::MemoryKind::host,
                                                              region->writable, true, why);
    if (region->registration == nullptr)
      log::info("a region of {} bytes is reached by messages only: {}", bytes, why->what());
  }
  return *regions_.emplace_back(std::move(region));
}

// Who may reach it directly is told that this is over.
void OneSided::close(Region& region) noexcept {
  for (Peer* peer : region.admitted) {
    wire::RegionState message;
    message.region = region.id;
    message.secret = region.secret;
    engine_.outbox().post(*peer, wire::Kind::region_closed, message);
  }
  std::erase_if(regions_, [&](const auto& open) { return open.get() == &region; });
}

Region* OneSided::find_region(std::uint64_t id, std::uint64_t secret) const noexcept {
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const auto& region) {
    return region->id == id && region->secret == secret;
  });
  return found == regions_.end() ? nullptr : found->get();
}

std::shared_ptr<const Admission> OneSided::admission(Peer& peer, const RegionKey& key) {
  std::shared_ptr<Admission>& known = admissions_[{&peer, key.id, key.secret}];
  if (known != nullptr) return known;
  known = std::make_shared<Admission>();
  wire::RegionState message;
  message.region = key.id;
  message.secret = key.secret;
  engine_.outbox().post(peer, wire::Kind::region_open, message);
  return known;
}

void OneSided::on_region_open(Peer& peer, const wire::RegionState& asked) {
  wire::RegionState answer;
  answer.region = asked.region;
  answer.secret = asked.secret;
  Region* region = find_region(asked.region, asked.secret);
  if (region == nullptr) return engine_.outbox().post(peer, wire::Kind::region_closed, answer);
  answer.bytes = region->bytes;
  answer.writable = region->writable ? 1 : 0;
  if (region->registration != nullptr) {
    answer.rma = 1;
    answer.rma_key = region->registration->key();
    answer.rma_address = region->registration->remote_address();
  }
  if (std::find(region->admitted.begin(), region->admitted.end(), &peer) == region->admitted.end())
    region->admitted.push_back(&peer);
  engine_.outbox().post(peer, wire::Kind::region_opened, answer);
}

void OneSided::on_region_opened(Peer& peer, const wire::RegionState& granted) {
  const auto found = admissions_.find({&peer, granted.region, granted.secret});
  if (found == admissions_.end()) return;
  Admission& admission = *found->second;
  admission.bytes = granted.bytes;
  admission.rma = granted.rma != 0;
  admission.rma_key = granted.rma_key;
  admission.rma_address = granted.rma_address;
  admission.writable = granted.writable != 0;
  admission.state = Admission::State::granted;
}

// Forgotten here, kept by the requests that wait for it: whoever comes with the key again asks again.
void OneSided::on_region_closed(Peer& peer, const wire::RegionState& closed) {
  const auto found = admissions_.find({&peer, closed.region, closed.secret});
  if (found == admissions_.end()) return;
  found->second->state = Admission::State::ended;
  found->second->error = std::make_unique<Error>(
      Code::invalid_argument, fmt::format("the key names a region that is not open at {}", peer.name()));
  admissions_.erase(found);
}

}  // namespace lath::transport
