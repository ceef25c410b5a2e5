#include "gpu/emulator/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "gpu/emulator/calls.hpp"

namespace lath::gpu::emulator {
namespace {

std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string refusal(const char* name, std::string_view why) {
  return std::string(name).append("='").append(setting(name)).append("' ").append(why);
}

bool read_number(std::string_view text, std::uint64_t& out) {
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc{} && rest == text.data() + text.size();
}

std::string_view take(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const auto taken = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return taken;
}

/// FUNCTION:N[+][:CODE]: calls [from, to) of a function, counted from 1.
struct Order {
  EntryState* entry = nullptr;  ///< null where the text cannot be read
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::optional<std::uint64_t> code;
};

Order read_order(std::string_view text) {
  Order order;
  auto* const entry = find_entry(take(text, ':'));
  std::string_view number = take(text, ':');
  const bool for_good = !number.empty() && number.back() == '+';
  if (for_good) number.remove_suffix(1);
  std::uint64_t code = 0;
  if (!read_number(number, order.from) || order.from == 0 || (!text.empty() && !read_number(text, code)))
    return order;
  if (!text.empty()) order.code = code;
  order.to = for_good ? UINT64_MAX : order.from + 1;
  order.entry = entry;
  return order;
}

// Each of these reads one variable, and returns what is wrong with it.

std::string read_failures() {
  for (auto rest = setting("LATH_EMULATOR_FAIL"); !rest.empty();) {
    const Order order = read_order(take(rest, ','));
    if (order.entry == nullptr)
      return refusal("LATH_EMULATOR_FAIL",
                     "is not FUNCTION:N[+][:CODE],... of functions that the emulator has, with N from 1");
    order.entry->fail_code = static_cast<CUresult>(order.code.value_or(CUDA_ERROR_OUT_OF_MEMORY));
    order.entry->fail_to = order.to;
    order.entry->fail_from = order.from;
  }
  return {};
}

std::string read_corruptions() {
  for (auto rest = setting("LATH_EMULATOR_CORRUPT"); !rest.empty();) {
    const Order order = read_order(take(rest, ','));
    if (order.entry == nullptr || order.code || !copies(*order.entry))
      return refusal("LATH_EMULATOR_CORRUPT",
                     "is not FUNCTION:N[+],... of functions of the emulator that copy, with N from 1");
    order.entry->corrupt_to = order.to;
    order.entry->corrupt_from = order.from;
  }
  return {};
}

std::string read_threads(bool& out) {
  const auto threads = setting("LATH_EMULATOR_THREADS");
  if (!threads.empty() && threads != "once" && threads != "faithful")
    return refusal("LATH_EMULATOR_THREADS", "is not one of once|faithful");
  out = threads == "faithful";
  return {};
}

std::string read_delay(std::uint64_t& out) {
  constexpr std::uint64_t most = 1'000'000'000;
  if (const auto text = setting("LATH_EMULATOR_DELAY_US");
      !text.empty() && (!read_number(text, out) || out > most))
    return refusal("LATH_EMULATOR_DELAY_US", "is not a number of microseconds from 0 to 1000000000");
  return {};
}

std::string read_devices(int& out) {
  std::uint64_t devices = 1;
  if (const auto text = setting("LATH_EMULATOR_DEVICES");
      !text.empty() && (!read_number(text, devices) || devices > 16))
    return refusal("LATH_EMULATOR_DEVICES", "is not a whole number from 0 to 16");
  out = static_cast<int>(devices);
  return devices == 0 ? refusal("LATH_EMULATOR_DEVICES", "leaves no device") : std::string();
}

Settings read() {
  Settings out;
  for (const std::string& problem : {read_devices(out.devices), read_delay(out.delay_microseconds),
                                     read_threads(out.faithful), read_failures(), read_corruptions()}) {
    if (problem.empty()) continue;
    out.problem += (out.problem.empty() ? "" : "; ") + problem;
  }
  return out;
}

}  // namespace

const Settings& settings() {
  static const Settings once = read();
  return once;
}

}  // namespace lath::gpu::emulator
