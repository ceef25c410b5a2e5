#include "benchmarks/pair.hpp"

#include <fmt/format.h>

#include <span>

#include "base/error.hpp"

namespace lath::benchmarks {

Pair::Pair(transport::Job& job, const std::string& provider) : job_(job) {
  if (job.size() != 2)
    throw Error(Code::invalid_argument,
                fmt::format("this benchmark takes two processes, not {}", job.size()));
  lath_call(lath_worker_create(provider.empty() ? nullptr : provider.c_str(), LATH_THREAD_SINGLE,
                               worker_.receive()),
            "opening the network");
  const auto addresses = job.allgather(worker_address(worker_.get()));
  const auto& others = addresses[static_cast<std::size_t>(other())];
  lath_call(lath_connect(worker_.get(), others.data(), others.size(), other(), &peer_), "connecting");
  job.while_waiting([worker = worker_.get()] { static_cast<void>(lath_progress(worker)); });
}

Pair::~Pair() {
  job_.while_waiting(nullptr);
}

std::vector<std::string> Pair::texts(const std::string& mine) {
  std::vector<std::string> out;
  for (const auto& bytes : job_.allgather(std::as_bytes(std::span(mine))))
    out.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return out;
}

std::string Pair::first_failure(const std::string& mine) {
  const auto both = texts(mine);
  for (std::size_t rank = 0; rank < both.size(); ++rank)
    if (!both[rank].empty()) return fmt::format("process {}: {}", rank, both[rank]);
  return {};
}

Counters Pair::counters() const {
  Counters out;
  out.messages = worker_counter(worker(), "messages");
  out.segments = worker_counter(worker(), "segments");
  out.work_requests = worker_counter(worker(), "work_requests");
  out.doorbells = worker_counter(worker(), "doorbells");
  out.pack_copies = worker_counter(worker(), "pack_copies");
  out.staged_bytes = worker_counter(worker(), "staged_bytes");
  out.wire_bytes = worker_counter(worker(), "wire_bytes");
  out.registrations = worker_counter(worker(), "registrations");
  out.driver_calls = worker_counter(worker(), "driver_calls");
  out.event_polls = worker_counter(worker(), "event_polls");
  return out;
}

}  // namespace lath::benchmarks
