#include "benchmarks/pingpong_report.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/counted.hpp"
#include "lath/lath.h"

namespace lath::benchmarks {
namespace {

using Json = nlohmann::ordered_json;

const char* name(Memory memory) {
  return memory == Memory::device ? "device" : "host";
}

Json side_json(const PingpongSide& side, std::int64_t segments) {
  return {{"pattern", side.pattern},
          {"count", side.count},
          {"segments", segments},
          {"memory", name(side.memory)}};
}

Json counters_json(const Counters& counters) {
  Json out = Json::object();
  for (const auto& [key, value] : counters.fields()) out[std::string(key)] = value;
  return out;
}

Json summary_json(const PingpongResult& result) {
  return {{"scheme", result.scheme},
          {"source", result.source},
          {"sink", result.sink},
          {"peer_source", result.peer_source},
          {"peer_sink", result.peer_sink},
          {"half_round_trip_us", as_json(result.time)},
          {"contiguous_half_round_trip_us", as_json(result.contiguous_time)},
          {"ratio_to_contiguous", result.ratio},
          {"bandwidth_gb_s", result.bandwidth},
          {"checked_bytes", result.checked_bytes},
          {"passed", result.failure.empty()}};
}

Json result_json(const PingpongResult& result) {
  Json out = summary_json(result);
  if (!result.failure.empty()) out["failure"] = result.failure;
  out["counters"] = counters_json(result.counters);
  return out;
}

std::string quartiles_text(const Quartiles& q) {
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", q.median, q.q1, q.q3);
}

/// Where a forced scheme is legal for a part of the four moves only, or was given up on the way.
void append_schemes_that_ran(fmt::memory_buffer& out, const PingpongResult& result) {
  const std::string& asked = result.scheme;
  const bool everywhere = result.source == asked && result.sink == asked && result.peer_source == asked &&
                          result.peer_sink == asked;
  if (asked == "auto" || everywhere) return;
  const auto shown = [](const std::string& scheme) { return scheme.empty() ? "no scheme" : scheme.c_str(); };
  fmt::format_to(std::back_inserter(out),
                 "{} did not move everything: process 0 sent by {}, received by {}; process 1 sent by {}, "
                 "received by {}\n",
                 asked, shown(result.source), shown(result.sink), shown(result.peer_source),
                 shown(result.peer_sink));
}

void append_counters(fmt::memory_buffer& out, const Counters& counters) {
  const auto messages = static_cast<double>(std::max<std::uint64_t>(counters.messages, 1));
  fmt::format_to(std::back_inserter(out), "{:<16}{:>16}{:>16}\n", "counter", "all", "a message");
  for (const auto& [key, value] : counters.fields())
    fmt::format_to(std::back_inserter(out), "{:<16}{:>16}{:>16.2f}\n", key, value,
                   static_cast<double>(value) / messages);
}

}  // namespace

Json as_json(const Quartiles& q) {
  return {{"median", q.median}, {"q1", q.q1}, {"q3", q.q3}, {"samples", q.samples}};
}

std::string as_text(const PingpongOptions& options, const PingpongReport& report) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "ping-pong over {}, {}\n", report.provider, counted(report.bytes, "byte"));
  for (std::size_t rank = 0; rank < 2; ++rank)
    fmt::format_to(to, "process {}: {} x {}, {}, {} memory\n", rank, options.sides[rank].count,
                   options.sides[rank].pattern, counted(report.segments[rank], "segment"),
                   name(options.sides[rank].memory));
  fmt::format_to(to, "\n{:<12} {:<12} {:<12} {:>28} {:>28} {:>8} {:>8}  {}\n", "scheme", "source", "sink",
                 "half round trip us (quart.)", "contiguous us (quart.)", "ratio", "GB/s", "bytes checked");
  for (const PingpongResult& result : report.results)
    fmt::format_to(to, "{:<12} {:<12} {:<12} {:>28} {:>28} {:>8.2f} {:>8.3f}  {} {}\n", result.scheme,
                   result.source, result.sink, quartiles_text(result.time),
                   quartiles_text(result.contiguous_time), result.ratio, result.bandwidth,
                   result.checked_bytes, result.failure.empty() ? "right" : "WRONG");
  for (const IllegalScheme& illegal : report.not_legal)
    fmt::format_to(to, "{:<12} not legal: {}\n", illegal.scheme, illegal.reason);
  for (const PingpongResult& result : report.results) append_schemes_that_ran(out, result);
  for (const PingpongResult& result : report.results) {
    fmt::format_to(to, "\nscheme {}, timed part of both processes:\n", result.scheme);
    append_counters(out, result.counters);
  }
  return fmt::to_string(out);
}

Json as_json(const PingpongOptions& options, const PingpongReport& report) {
  Json results = Json::array();
  for (const PingpongResult& result : report.results) results.push_back(result_json(result));
  Json not_legal = Json::array(), reasons = Json::object();
  for (const IllegalScheme& illegal : report.not_legal) {
    not_legal.push_back(illegal.scheme);
    reasons[illegal.scheme] = illegal.reason;
  }
  const PingpongResult& first = report.results.front();
  return {
      {"benchmark", "pingpong"},
      {"version", lath_version()},
      {"provider", report.provider},
      {"bytes", report.bytes},
      {"sides",
       {side_json(options.sides[0], report.segments[0]), side_json(options.sides[1], report.segments[1])}},
      {"summary", summary_json(first)},
      {"counters", counters_json(first.counters)},
      {"results", std::move(results)},
      {"not_legal", std::move(not_legal)},
      {"not_legal_reasons", std::move(reasons)}};
}

}  // namespace lath::benchmarks
