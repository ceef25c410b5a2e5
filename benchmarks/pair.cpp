#include "benchmarks/pair.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "benchmarks/lath_call.hpp"

namespace lath::benchmarks {
namespace {

std::uint64_t counter(lath_worker worker, const char* name) {
  std::uint64_t value = 0;
  lath_call(lath_worker_counter(worker, name, &value), name);
  return value;
}

}  // namespace

Pair::Pair(transport::Job& job, const std::string& provider) : job_(job) {
  if (job.size() != 2)
    throw Error(Code::invalid_argument,
                fmt::format("this benchmark takes two processes, not {}", job.size()));
  lath_call(lath_worker_create(provider.empty() ? nullptr : provider.c_str(), LATH_THREAD_SINGLE,
std::vector<std::string> Pair::texts(const std::string& mine) {
  std::vector<std::string> out;
  for (const auto& bytes : job_.allgather(std::as_bytes(std::span(mine))))
    out.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return out;
}

                               worker_.receive()),
            "opening the network");
  std::array<std::byte, 1024> address;
  std::size_t length = address.size();
  lath_call(lath_worker_address(worker_.get(), address.data(), &length), "asking for the worker's address");
  const auto addresses = job.allgather(std::span(address).first(length));
  const auto& others = addresses[static_cast<std::size_t>(other())];
  lath_call(lath_connect(worker_.get(), others.data(), others.size(), other(), &peer_), "connecting");
  job.while_waiting([worker = worker_.get()] { static_cast<void>(lath_progress(worker)); });
}

Pair::~Pair() {
  job_.while_waiting(nullptr);
}

std::string Pair::first_failure(const std::string& mine) {
  const auto both = texts(mine);
  for (std::size_t rank = 0; rank < both.size(); ++rank)
    if (!both[rank].empty()) return fmt::format("process {}: {}", rank, both[rank]);
  return {};
}

Counters Pair::counters() const {
  Counters out;
  out.messages = counter(worker(), "messages");
  out.segments = counter(worker(), "segments");
  out.work_requests = counter(worker(), "work_requests");
  out.doorbells = counter(worker(), "doorbells");
  out.pack_copies = counter(worker(), "pack_copies");
  out.staged_bytes = counter(worker(), "staged_bytes");
  out.wire_bytes = counter(worker(), "wire_bytes");
  out.registrations = counter(worker(), "registrations");
  out.driver_calls = counter(worker(), "driver_calls");
  out.event_polls = counter(worker(), "event_polls");
  return out;
}

}  // namespace lath::benchmarks
