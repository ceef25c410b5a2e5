#include "benchmarks/provider_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "benchmarks/exchange.hpp"
#include "benchmarks/libfabric_pingpong.hpp"
#include "benchmarks/pair.hpp"

namespace lath::benchmarks {
namespace {

constexpr int rounds = 15;
constexpr std::size_t sizes[] = {8, std::size_t{1} << 20, std::size_t{4} << 20};

std::string libfabric_name(const std::string& provider) {
  if (!provider.starts_with("ofi:"))
    throw Error(Code::not_supported, fmt::format("provider {} is not over libfabric", provider));
  return provider.substr(4);
}

/// The two ways at one size.
class Comparison {
 public:
  Comparison(Pair& pair, LibfabricPair& raw, std::size_t bytes)
      : pair_(pair),
        raw_(raw),
        bytes_(bytes),
        ends_(Datatype::basic(Basic::byte_), static_cast<std::int64_t>(bytes), Memory::host),
        exchange_(pair, ends_) {
    ends_.outgoing.fill(static_cast<std::uint64_t>(pair.rank()) + 1);
  }

  SizeComparison run(double seconds) {
    SizeComparison out;
    out.bytes = bytes_;
    const std::int64_t iterations = iterations_of_round(seconds);
    std::vector<double> lath, provider, difference;
    for (int round = 0; round < rounds; ++round) {
      const auto its = raw(iterations);
      const auto ours = through_lath(iterations);
      difference.push_back(quartiles(ours).median - quartiles(its).median);
      lath.insert(lath.end(), ours.begin(), ours.end());
      provider.insert(provider.end(), its.begin(), its.end());
    }
    out.lath = quartiles(std::move(lath));
    out.provider = quartiles(std::move(provider));
    out.difference = quartiles(std::move(difference));
    out.bandwidth_ratio = out.lath.median > 0.0 ? out.provider.median / out.lath.median : 0.0;
    return out;
  }

  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  std::vector<double> raw(std::int64_t iterations) {
    // The same memory: where pages are huge, and where not, is as much a part of the figure as the protocol.
    ends_.incoming.clear();
    pair_.meet();
    auto samples = raw_.run(ends_.outgoing.address(), ends_.incoming.address(), bytes_, iterations);
    check_incoming("the provider's own message");
    return samples;
  }

  std::vector<double> through_lath(std::int64_t iterations) {
    ends_.incoming.clear();
    pair_.meet();
    auto samples = exchange_.run(iterations);
    check_incoming("a message");
    return samples;
  }

  void check_incoming(const char* what) {
    if (const auto difference = ends_.incoming.check(static_cast<std::uint64_t>(pair_.other()) + 1))
      failure_ = fmt::format("{} of {} bytes: {}", what, bytes_, *difference);
  }

  std::int64_t iterations_of_round(double seconds) {
    raw(2);
    auto samples = through_lath(4);
    const double fastest = samples.empty() ? 0.0 : *std::min_element(samples.begin(), samples.end());
    const double round_trip = std::max(0.5, 2.0 * pair_.share(fastest).front());
    return static_cast<std::int64_t>(std::clamp(seconds * 1e6 / (2 * rounds) / round_trip, 1.0, 200'000.0));
  }

  Pair& pair_;
  LibfabricPair& raw_;
  std::size_t bytes_;
  Ends ends_;
  Exchange exchange_;
  std::string failure_;
};

}  // namespace

ProviderComparison compare_with_provider(transport::Job& job, const std::string& provider, double seconds) {
  Pair pair(job, provider);
  ProviderComparison out;
  out.provider = lath_worker_provider(pair.worker());
  LibfabricPair raw(job, libfabric_name(out.provider));
  job.while_waiting([&] {
    static_cast<void>(lath_progress(pair.worker()));
    raw.progress();
  });
  for (const std::size_t bytes : sizes) {
    Comparison comparison(pair, raw, bytes);
    out.sizes.push_back(comparison.run(seconds / static_cast<double>(std::size(sizes))));
    const std::string failure = pair.first_failure(comparison.failure());
    if (out.failure.empty()) out.failure = failure;
  }
  pair.meet();
  job.while_waiting(nullptr);
  return out;
}

}  // namespace lath::benchmarks
