#include "base/config.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/error.hpp"

namespace lath::config {
namespace {

const std::vector<Variable> table{
    {"LATH_CHECK_BUFFERS", Type::boolean, "0", "",
     "Whether the buffer of every message is checked; if not, short ones out of pages used before are trusted."},
    {"LATH_CHUNKS_IN_FLIGHT", Type::integer, "4", "",
     "Chunks of one message that may be packed or on the wire at once."},
    {"LATH_CHUNK_BYTES", Type::bytes, "512K", "",
     "Packed bytes of one rendezvous chunk that goes through a bounce buffer."},
    {"LATH_CONNECT_TIMEOUT", Type::integer, "300", "",
     "Seconds that provider verbs waits for a peer on another machine to answer its first message."},
    {"LATH_EAGER_BYTES", Type::bytes, "8K", "",
     "Messages up to this size travel with their header; longer ones by rendezvous."},
    {"LATH_EMULATOR", Type::text, "", "",
     "Path of the emulator's libcuda.so.1; empty: beside the library or in its build folder."},
    {"LATH_EMULATOR_DELAY_US", Type::integer, "0", "",
     "Emulator: random delay before every stream operation, at most this many microseconds."},
    {"LATH_EMULATOR_DEVICES", Type::integer, "1", "", "Emulator: number of devices, at most 16."},
    {"LATH_EMULATOR_FAIL", Type::text, "", "",
     "Emulator: calls that fail, such as cuMemAlloc_v2:3 (the third), :3+ (from it on), :3:999 (its code)."},
    {"LATH_EMULATOR_THREADS", Type::choice, "once", "once|faithful",
     "Emulator: run a kernel's body once over all work, or once for every thread of the launch."},
    {"LATH_GPU", Type::choice, "auto", "auto|emulated|none",
     "Which GPU to use: the driver's where one is found, the emulator, or none."},
    {"LATH_JOB_NAME", Type::text, "", "",
     "Set in processes that Lath starts: the socket name by which they find each other."},
    {"LATH_JOB_RANK", Type::integer, "0", "", "Set in processes that Lath starts: this process' number."},
    {"LATH_JOB_SIZE", Type::integer, "0", "",
     "Set in processes that Lath starts: how many there are; 0 elsewhere."},
    {"LATH_JOB_TIMEOUT", Type::integer, "600", "",
     "Seconds that a process waits for the others of its job to come or to answer."},
    {"LATH_LOG", Type::choice, "warn", "off|error|warn|info|debug",
     "Least severe log lines that are written to standard error."},
    {"LATH_PROVIDER", Type::text, "", "",
     "Provider to use, such as ofi, ofi:tcp or ofi:shm; empty: the first viable one."},
    {"LATH_SCHEME", Type::choice, "auto", "auto|contiguous|gather|device_pack|host_pack|staged",
     "Forces one scheme wherever it is legal; elsewhere the cost model chooses."},
    {"LATH_SPIN", Type::integer, "1000", "",
     "Polls of a waiting call before it starts to yield the processor."},
};

std::string_view type_names[] = {"text", "integer", "bytes", "boolean", "choice"};

std::mutex values_mutex;
std::optional<std::map<std::string, std::string, std::less<>>> values;  // guarded by values_mutex

bool is_choice(std::string_view choices, std::string_view value) {
  while (!choices.empty()) {
    const auto bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    choices = bar == std::string_view::npos ? std::string_view{} : choices.substr(bar + 1);
  }
  return false;
}

std::map<std::string, std::string, std::less<>> read_environment() {
  std::map<std::string, std::string, std::less<>> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const auto equals = line.find('=');
    if (line.starts_with("LATH_") && equals != std::string_view::npos)
      out.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return out;
}

const Variable& find(std::string_view variable) {
  const auto at = std::ranges::find(table, variable, &Variable::name);
  if (at == table.end())
    throw Error(Code::internal, fmt::format("{} is not in the table of variables", variable));
  return *at;
}

std::int64_t number(std::string_view variable, bool suffixes) {
  const std::string value = text(variable);
  std::int64_t out = 0;
  const char* end = value.data() + value.size();
  auto [rest, problem] = std::from_chars(value.data(), end, out);
  std::int64_t factor = 1;
  if (problem == std::errc{} && suffixes && rest + 1 == end) {
    const std::string_view letters = "KMG";
    if (const auto at = letters.find(*rest); at != std::string_view::npos) {
      factor = std::int64_t{1} << (10 * (at + 1));
      ++rest;
    }
  }
  if (problem != std::errc{} || rest != end || out < 0 || out > INT64_MAX / factor)
    throw Error(Code::parse,
                fmt::format("{}='{}' is not {}", variable, value,
                            suffixes ? "a byte count such as 65536, 64K or 1M" : "a whole number"));
  return out * factor;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitution = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitution, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view name(Type type) {
  return type_names[static_cast<std::size_t>(type)];
}

const std::vector<Variable>& variables() {
  return table;
}

bool is_set(std::string_view variable) {
  find(variable);
  const std::lock_guard lock(values_mutex);
  if (!values) values = read_environment();
  return values->contains(variable);
}

std::string text(std::string_view variable) {
  const Variable& entry = find(variable);
  std::string value(entry.default_value);
  {
    const std::lock_guard lock(values_mutex);
    if (!values) values = read_environment();
    if (const auto at = values->find(variable); at != values->end()) value = at->second;
  }
  if (entry.type == Type::choice && !is_choice(entry.choices, value))
    throw Error(Code::parse, fmt::format("{}='{}' is not one of {}", variable, value, entry.choices));
  return value;
}

std::int64_t integer(std::string_view variable) {
  return number(variable, false);
}

std::int64_t bytes(std::string_view variable) {
  return number(variable, true);
}

bool boolean(std::string_view variable) {
  const std::string value = text(variable);
  for (std::string_view yes : {"1", "yes", "true", "on"})
    if (value == yes) return true;
  for (std::string_view no : {"0", "no", "false", "off"})
    if (value == no) return false;
  throw Error(Code::parse,
              fmt::format("{}='{}' is not one of 1, 0, yes, no, true, false, on, off", variable, value));
}

void reload() {
  const std::lock_guard lock(values_mutex);
  values = read_environment();
}

std::vector<Unknown> unknown() {
  const std::lock_guard lock(values_mutex);
  if (!values) values = read_environment();
  std::vector<Unknown> out;
  for (const auto& [variable, value] : *values) {
    if (std::ranges::find(table, std::string_view(variable), &Variable::name) != table.end()) continue;
    const auto nearest = std::ranges::min_element(
        table, {}, [&name = variable](const Variable& entry) { return edit_distance(name, entry.name); });
    out.push_back({variable, std::string(nearest->name)});
  }
  return out;
}

}  // namespace lath::config
