#include "gpu/emulator/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "gpu/emulator/calls.hpp"

namespace lath::gpu::emulator {
namespace {

std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool refuse(std::string_view name, std::string_view expected) {
  std::cerr << "lath emulator: " << name << " is not " << expected << '\n';
  return false;
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

// FUNCTION:N[+][:CODE]
bool read_failure(std::string_view text) {
  auto* const entry = find_entry(take(text, ':'));
  std::string_view number = take(text, ':');
  const bool for_good = !number.empty() && number.back() == '+';
  if (for_good) number.remove_suffix(1);
  std::uint64_t nth = 0;
  std::uint64_t code = CUDA_ERROR_OUT_OF_MEMORY;
  if (entry == nullptr || !read_number(number, nth) || nth == 0 ||
      (!text.empty() && !read_number(text, code)))
    return false;
  entry->fail_code = static_cast<CUresult>(code);
  entry->fail_to = for_good ? UINT64_MAX : nth + 1;
  entry->fail_from = nth;
  return true;
}

bool read_failures() {
  for (auto rest = setting("LATH_EMULATOR_FAIL"); !rest.empty();)
    if (!read_failure(take(rest, ','))) return refuse("LATH_EMULATOR_FAIL", "FUNCTION:N[+][:CODE],...");
  return true;
}

bool read_threads(bool& out) {
  const auto threads = setting("LATH_EMULATOR_THREADS");
  if (!threads.empty() && threads != "once" && threads != "faithful")
    return refuse("LATH_EMULATOR_THREADS", "once or faithful");
  out = threads == "faithful";
  return true;
}

bool read_delay(std::uint64_t& out) {
  if (const auto text = setting("LATH_EMULATOR_DELAY_US"); !text.empty() && !read_number(text, out))
    return refuse("LATH_EMULATOR_DELAY_US", "a number of microseconds");
  return true;
}

bool read_devices(int& out) {
  std::uint64_t devices = 1;
  if (const auto text = setting("LATH_EMULATOR_DEVICES");
      !text.empty() && (!read_number(text, devices) || devices > 16))
    return refuse("LATH_EMULATOR_DEVICES", "a number up to 16");
  out = static_cast<int>(devices);
  return true;
}

Settings read() {
  Settings out;
  out.valid = read_devices(out.devices) && read_delay(out.delay_microseconds) && read_threads(out.faithful) &&
              read_failures();
  return out;
}

}  // namespace

const Settings& settings() {
  static const Settings once = read();
  return once;
}

}  // namespace lath::gpu::emulator
