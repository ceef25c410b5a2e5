#include "benchmarks/pingpong.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/config.hpp"
#include "benchmarks/exchange.hpp"
#include "benchmarks/lath_call.hpp"
#include "benchmarks/pair.hpp"
#include "benchmarks/scheme_legality.hpp"
#include "transport/plan.hpp"

namespace lath::benchmarks {
namespace {

constexpr int batches = 5;

struct Schemes {
  char source[24] = {};
  char sink[24] = {};
};

void copy_name(char (&to)[24], const char* from) {
  std::snprintf(to, sizeof to, "%s", from == nullptr ? "" : from);
}

/// One message each way by persistent requests, which remember their schemes.
Schemes schemes_in_use(Pair& pair, Ends& ends) {
  lath_request requests[2] = {nullptr, nullptr};
  lath_call(lath_receive_init(pair.worker(), ends.incoming.address(), ends.count, ends.handle.get(),
                              pair.other(), 0, Exchange::tag, &requests[0]),
            "posting a receive");
  lath_call(lath_send_init(pair.peer(), ends.outgoing.address(), ends.count, ends.handle.get(), 0,
                           Exchange::tag, &requests[1]),
            "sending");
  for (lath_request request : requests) lath_call(lath_start(request), "starting a request");
  lath_call(lath_wait_all(2, requests, nullptr), "exchanging a first message");
  Schemes out;
  copy_name(out.sink, lath_request_scheme(requests[0]));
  copy_name(out.source, lath_request_scheme(requests[1]));
  for (lath_request request : requests) lath_call(lath_request_free(request), "ending a request");
  pair.meet();
  return out;
}

/// Timed batches of one message shape; before and after each its bytes are made anew and checked.
class Series {
 public:
  Series(Pair& pair, Ends& ends) : pair_(pair), ends_(ends), exchange_(pair, ends) {}

  void batch(std::int64_t iterations) {
    const auto seed = 2 * ++round_;  // the two directions carry different bytes
    const auto rank = static_cast<std::uint64_t>(pair_.rank());
    ends_.outgoing.fill(seed + rank);
    ends_.incoming.clear();
    pair_.meet();
    const Counters before = pair_.counters();
    const auto samples = exchange_.run(iterations);
    counters_ += pair_.counters();
    counters_ -= before;
    pair_.meet();
    samples_.insert(samples_.end(), samples.begin(), samples.end());
    for (auto [buffer, of] :
         {std::pair{&ends_.incoming, seed + 1 - rank}, std::pair{&ends_.outgoing, seed + rank}}) {
      const auto difference = buffer->check(of);
      checked_ += buffer->bytes();
      if (difference && failure_.empty()) failure_ = *difference;
    }
  }

  /// Microseconds of a warm half round trip; the same in both processes.
  double warm_up() {
    batch(1);
    batch(3);
    const double fastest = samples_.empty() ? 0.0 : *std::min_element(samples_.begin(), samples_.end());
    samples_.clear();
    counters_ = {};
    return pair_.share(fastest).front();
  }

  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t checked() const { return checked_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  Pair& pair_;
  Ends& ends_;
  Exchange exchange_;
  std::uint64_t round_ = 0;
  std::vector<double> samples_;
  Counters counters_;
  std::uint64_t checked_ = 0;
  std::string failure_;
};

std::int64_t iterations_of_batch(const PingpongOptions& options, double half_round_trip) {
  if (options.iterations > 0) return std::max<std::int64_t>(1, (options.iterations + batches - 1) / batches);
  const double round_trip = std::max(2.0 * half_round_trip, 0.1);
  return static_cast<std::int64_t>(
      std::clamp(options.seconds * 1e6 / (2 * batches) / round_trip, 1.0, 200'000.0));
}

/// What one process saw of a scheme, for the other one.
struct Findings {
  Schemes schemes;
  Counters counters;
  std::uint64_t checked = 0;
  Quartiles time, contiguous_time;
};

PingpongResult combine(const std::vector<Findings>& both) {
  PingpongResult out;
  out.source = both[0].schemes.source;
  out.sink = both[0].schemes.sink;
  out.peer_source = both[1].schemes.source;
  out.peer_sink = both[1].schemes.sink;
  out.time = both[0].time;
  out.contiguous_time = both[0].contiguous_time;
  out.ratio = out.contiguous_time.median > 0.0 ? out.time.median / out.contiguous_time.median : 0.0;
  for (const Findings& one : both) {
    out.counters += one.counters;
    out.checked_bytes += one.checked;
  }
  return out;
}

PingpongResult measure(Pair& pair, const PingpongOptions& options, const std::string& scheme) {
  const PingpongSide& side = options.sides[pair.rank()];
  Ends ends(side.type, side.count, side.memory);
  ends.outgoing.fill(0);
  Findings mine;
  mine.schemes = schemes_in_use(pair, ends);

  Ends whole(Datatype::basic(Basic::byte_), ends.outgoing.layout().bytes(), side.memory);
  Series messages(pair, ends), reference(pair, whole);
  const std::int64_t iterations = iterations_of_batch(options, messages.warm_up());
  const std::int64_t reference_iterations = iterations_of_batch(options, reference.warm_up());
  for (int batch = 0; batch < batches; ++batch) {
    messages.batch(iterations);
    reference.batch(reference_iterations);
  }

  mine.counters = messages.counters();
  mine.checked = messages.checked() + reference.checked();
  mine.time = quartiles(messages.samples());
  mine.contiguous_time = quartiles(reference.samples());
  PingpongResult result = combine(pair.share(mine));
  result.failure = pair.first_failure(messages.failure().empty() ? reference.failure() : messages.failure());
  result.scheme = scheme;
  const auto bytes = static_cast<double>(ends.outgoing.layout().bytes());
  if (result.time.median > 0.0) result.bandwidth = bytes / result.time.median / 1e3;
  return result;
}

/// As why_not_legal(); empty for auto.
std::string why_refused(Pair& pair, const PingpongOptions& options, const std::string& scheme) {
  for (std::size_t i = 0; i < transport::scheme_count; ++i)
    if (const auto known = static_cast<transport::Scheme>(i); name(known) == scheme)
      return why_not_legal(pair, options.sides[pair.rank()], known);
  return {};
}

void force_scheme(const std::string& scheme) {
  setenv("LATH_SCHEME", scheme.c_str(), 1);
  config::reload();
}

}  // namespace

PingpongReport pingpong(transport::Job& job, const PingpongOptions& options) {
  PingpongReport report;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const Layout layout = Layout::of(options.sides[rank].type, options.sides[rank].count);
    report.bytes = layout.bytes();
    report.segments[rank] = layout.segment_count();
  }
  std::vector<std::string> schemes{options.scheme.empty() ? config::text("LATH_SCHEME") : options.scheme};
  if (options.scheme == "all") {
    schemes = {"auto"};
    for (std::size_t i = 0; i < transport::scheme_count; ++i)
      schemes.emplace_back(name(static_cast<transport::Scheme>(i)));
  }
  for (const std::string& scheme : schemes) {
    // A worker reads the variable when it is made.
    force_scheme(scheme);
    Pair pair(job, options.provider);
    report.provider = lath_worker_provider(pair.worker());
    if (std::string reason = why_refused(pair, options, scheme); reason.empty())
      report.results.push_back(measure(pair, options, scheme));
    else
      report.not_legal.push_back({scheme, std::move(reason)});
    pair.meet();
  }
  return report;
}

}  // namespace lath::benchmarks
