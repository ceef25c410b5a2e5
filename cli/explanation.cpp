#include "cli/explanation.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/counted.hpp"

namespace lath::cli {
namespace {

using transport::Verdict;

std::string class_text(const LengthClass& entry) {
  if (entry.shortest == entry.longest) return counted(entry.shortest, "byte");
  return fmt::format("{} to {} bytes", entry.shortest, entry.longest);
}

void append_lengths(fmt::memory_buffer& out, const LengthHistogram& lengths) {
  for (const LengthClass& entry : lengths.classes)
    fmt::format_to(std::back_inserter(out), "  {:>30}: {}\n", class_text(entry),
                   counted(entry.segments, "segment"));
  if (!lengths.exact)
    fmt::format_to(std::back_inserter(out), "  (lengths of the first {} segments only)\n", lengths.examined);
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return seconds < 1.0 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

void append_side(fmt::memory_buffer& out, const char* title, const Side& side) {
  fmt::format_to(std::back_inserter(out), "\n{}: {}\n", title, name(side.chosen));
  for (const Verdict& verdict : side.verdicts)
    fmt::format_to(std::back_inserter(out), "  {} {:<12} {:>12}  {}\n",
                   verdict.scheme == side.chosen ? '*' : ' ', name(verdict.scheme),
                   verdict.legal ? duration(verdict.seconds) : "not legal", verdict.reason);
}

nlohmann::ordered_json side_json(const Side& side) {
  nlohmann::ordered_json schemes = nlohmann::ordered_json::array();
  for (const Verdict& verdict : side.verdicts) {
    nlohmann::ordered_json entry{
        {"scheme", name(verdict.scheme)}, {"legal", verdict.legal}, {"reason", verdict.reason}};
    if (verdict.legal) entry["predicted_us"] = verdict.seconds * 1e6;
    schemes.push_back(std::move(entry));
  }
  return {{"chosen", name(side.chosen)}, {"schemes", std::move(schemes)}};
}

}  // namespace

std::string as_text(const Explanation& e) {
  fmt::memory_buffer out;
  const auto line = [&out](std::string_view key, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "{:<10}{}\n", key, value);
  };
  line("type", e.type);
  line("count", fmt::format("{}", e.count));
  line("size", fmt::format("{} an element, {} in all", counted(e.size, "byte"), e.layout.bytes()));
  line("extent", fmt::format("{} from lower bound {}; true extent {} from {}", counted(e.extent, "byte"),
                             e.lower_bound, e.true_extent, e.true_lower_bound));
  line("memory", fmt::format("bytes {} to {} of the buffer; {}{}", e.layout.lowest(), e.layout.highest(),
                             e.memory, e.memory_note));
  line("form", e.layout.text());
  line("alignment", fmt::format("{}, which divide{} every segment's offset and length",
                                counted(e.layout.alignment(), "byte"), e.layout.alignment() == 1 ? "s" : ""));
  line("segments", fmt::format("{}", e.layout.segment_count()));
  append_lengths(out, e.lengths);
  line("provider", e.provider.empty() ? "none: " + e.provider_problem : e.provider);
  line("GPU", e.gpu);
  if (e.layout.bytes() == 0) {
    line("schemes", "none needed: no data");
    return fmt::to_string(out);
  }
  if (!e.eager.empty()) line("eager", e.eager);
  append_side(out, "sending side", e.send);
  append_side(out, "receiving side", e.receive);
  fmt::format_to(std::back_inserter(out),
                 "\n(* chosen; times are the cost model's predictions, wire included)\n");
  return fmt::to_string(out);
}

nlohmann::ordered_json as_json(const Explanation& e) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const LengthClass& entry : e.lengths.classes)
    classes.push_back({{"least", entry.least},
                       {"shortest", entry.shortest},
                       {"longest", entry.longest},
                       {"segments", entry.segments}});
  return {
      {"type", e.type},
      {"count", e.count},
      {"size", e.size},
      {"lower_bound", e.lower_bound},
      {"extent", e.extent},
      {"true_lower_bound", e.true_lower_bound},
      {"true_extent", e.true_extent},
      {"bytes", e.layout.bytes()},
      {"lowest", e.layout.lowest()},
      {"highest", e.layout.highest()},
      {"kind", name(e.layout.kind())},
      {"form", e.layout.text()},
      {"hash", fmt::format("{:016x}{:016x}", e.layout.hash().high, e.layout.hash().low)},
      {"alignment", e.layout.alignment()},
      {"segments", e.layout.segment_count()},
      {"uniform_block", e.layout.uniform_block()},
      {"lengths",
       {{"exact", e.lengths.exact},
        {"examined", e.lengths.examined},
        {"shortest", e.lengths.shortest},
        {"longest", e.lengths.longest},
        {"classes", std::move(classes)}}},
      {"memory", e.memory},
      {"provider", e.provider.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(e.provider)},
      {"provider_problem", e.provider_problem},
      {"gpu", e.gpu},
      {"send", side_json(e.send)},
      {"receive", side_json(e.receive)},
  };
}

}  // namespace lath::cli
