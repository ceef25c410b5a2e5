#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "transport/address_check.hpp"
#include "transport/c_api.hpp"

using namespace lath;
using namespace lath::transport;
using namespace lath::transport::c_api;

namespace {

Region& region_of(lath_region region) {
  return *reinterpret_cast<Region*>(not_null(region, "region"));
}

lath_status one_sided(bool is_get, lath_peer to, const void* origin, int64_t origin_count,
                      lath_type origin_type, const void* key, size_t key_length, int64_t target_offset,
                      int64_t target_count, lath_type target_type, lath_request* out) {
  return guarded([&] {
    *not_null(out, "request") = nullptr;
    Peer& peer = peer_of(to);
    const auto* bytes = static_cast<const std::byte*>(not_null(key, "key"));
    const RegionKey region = RegionKey::decode({bytes, key_length});
    const Data data = data_of(origin, origin_count, origin_type);
    const Layout target =
        not_null(target_type, "target_type")->layout(not_negative(target_count, "target_count"));
    Worker& worker = peer.engine().worker();
    Request* request = nullptr;
    const Result result = is_get ? worker.get(peer, data, region, target_offset, target, request)
                                 : worker.put(peer, data, region, target_offset, target, request);
    if (!result.is_error()) *out = handle(request);
    return status_of(result);
  });
}

}  // namespace

lath_status lath_region_create(lath_worker worker, void* address, size_t bytes, lath_region* region) {
  return guarded([&] {
    *not_null(region, "region") = nullptr;
    if (bytes > 0) not_null(address, "address");
    if (bytes > static_cast<std::size_t>(INT64_MAX) ||
        bytes > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(address))
      refuse("bytes", fmt::format("are {}, which reach past the end of memory", bytes));
    *region = reinterpret_cast<lath_region>(&worker_of(worker).open_region(address, bytes));
    return LATH_OK;
  });
}

void lath_region_destroy(lath_region region) {
  if (region == nullptr) return;
  Region& given = region_of(region);
  given.engine->worker().close_region(given);
}

lath_status lath_region_key(lath_region region, void* key, size_t* length) {
  return guarded([&] {
    not_null(length, "length");
    const auto bytes = region_of(region).key();
    const std::size_t capacity = std::exchange(*length, bytes.size());
    if (bytes.size() > capacity)
      refuse("*length", fmt::format("is {}, the key needs {} bytes", capacity, bytes.size()));
    std::memcpy(not_null(key, "key"), bytes.data(), bytes.size());
    return LATH_OK;
  });
}

lath_status lath_put(lath_peer peer, const void* origin, int64_t origin_count, lath_type origin_type,
                     const void* key, size_t key_length, int64_t target_offset, int64_t target_count,
                     lath_type target_type, lath_request* request) {
  return one_sided(false, peer, origin, origin_count, origin_type, key, key_length, target_offset,
                   target_count, target_type, request);
}

lath_status lath_get(lath_peer peer, void* origin, int64_t origin_count, lath_type origin_type,
                     const void* key, size_t key_length, int64_t target_offset, int64_t target_count,
                     lath_type target_type, lath_request* request) {
  return one_sided(true, peer, origin, origin_count, origin_type, key, key_length, target_offset,
                   target_count, target_type, request);
}
