#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/config.hpp"
#include "transport/plan.hpp"

namespace lath::transport {
namespace {

constexpr std::array<std::string_view, scheme_count> scheme_names{"contiguous", "gather", "device_pack",
                                                                  "host_pack", "staged"};

// Tuning is read by many threads and written by few: packed into words that need no lock.
std::atomic<int> tuned_scheme{-1};
std::atomic<std::int64_t> tuned_chunk_bytes{Tuning{}.chunk_bytes};
std::atomic<std::int32_t> tuned_chunks_in_flight{Tuning{}.chunks_in_flight};

std::optional<Scheme> scheme_of(std::string_view text) {
  const auto at = std::find(scheme_names.begin(), scheme_names.end(), text);
  if (at == scheme_names.end()) return std::nullopt;
  return static_cast<Scheme>(at - scheme_names.begin());
}

}  // namespace

std::string_view name(Scheme scheme) {
  const auto index = static_cast<std::size_t>(scheme);
  return index < scheme_count ? scheme_names[index] : "unknown";
}

Tuning read_tuning() {
  Tuning read;
  read.forced = scheme_of(config::text("LATH_SCHEME"));
  read.chunk_bytes = config::bytes("LATH_CHUNK_BYTES");
  const std::int64_t in_flight = config::integer("LATH_CHUNKS_IN_FLIGHT");
  if (read.chunk_bytes < 1) throw Error(Code::parse, "LATH_CHUNK_BYTES must be at least 1");
  if (in_flight < 1 || in_flight > max_chunks_in_flight)
    throw Error(Code::parse, fmt::format("LATH_CHUNKS_IN_FLIGHT must be 1 to {}, not {}",
                                         max_chunks_in_flight, in_flight));
  read.chunks_in_flight = static_cast<std::int32_t>(in_flight);
  tuned_scheme = read.forced ? static_cast<int>(*read.forced) : -1;
  tuned_chunk_bytes = read.chunk_bytes;
  tuned_chunks_in_flight = read.chunks_in_flight;
  return read;
}

Tuning tuning() noexcept {
  Tuning out;
  if (const int scheme = tuned_scheme; scheme >= 0) out.forced = static_cast<Scheme>(scheme);
  out.chunk_bytes = tuned_chunk_bytes;
  out.chunks_in_flight = tuned_chunks_in_flight;
  return out;
}

}  // namespace lath::transport
