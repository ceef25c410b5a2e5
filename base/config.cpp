#include "base/config.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/decimal.hpp"
#include "base/error.hpp"

namespace lath::config {
namespace {

// Times beyond would overflow the clock's nanoseconds.
constexpr std::int64_t longest_time = 1'000'000'000;

const std::vector<Variable> table{
    {"LATH_CHECK_BUFFERS", Type::boolean, "0", "",
     "Whether the buffer of every message is checked; if not, pages used before are trusted: by short "
     "messages wholly, by longer ones to be accessible if they are mapped."},
    {"LATH_CHUNKS_IN_FLIGHT", Type::integer, "4", "",
     "Chunks of one message that may be packed or on the wire at once.", 1, 64},
    {"LATH_CHUNK_BYTES", Type::bytes, "512K", "",
     "Packed bytes of one rendezvous chunk that goes through a bounce buffer.", 1},
    {"LATH_CONNECT_TIMEOUT", Type::integer, "300", "",
     "Seconds that provider verbs waits for a peer on another machine to answer its first message.", 1,
     longest_time},
    {"LATH_EAGER_BYTES", Type::bytes, "8K", "",
     "Messages up to this size travel with their header; longer ones by rendezvous."},
    {"LATH_EMULATOR", Type::text, "", "",
     "Path of the emulator's libcuda.so.1; empty: beside the library or in its build folder."},
    {"LATH_EMULATOR_CORRUPT", Type::text, "", "",
     "Emulator: copies that go wrong by their first byte, such as cuMemcpyAsync:3 (the third), :3+ (from it "
     "on)."},
    {"LATH_EMULATOR_DELAY_US", Type::integer, "0", "",
     "Emulator: random delay before every stream operation, at most this many microseconds.", 0,
     longest_time},
    {"LATH_EMULATOR_DEVICES", Type::integer, "1", "", "Emulator: number of devices, at most 16.", 0, 16},
    {"LATH_EMULATOR_FAIL", Type::text, "", "",
     "Emulator: calls that fail, such as cuMemAlloc_v2:3 (the third), :3+ (from it on), :3:999 (its code)."},
    {"LATH_EMULATOR_THREADS", Type::choice, "once", "once|faithful",
     "Emulator: run a kernel's body once over all work, or once for every thread of the launch."},
    {"LATH_GPU", Type::choice, "auto", "auto|emulated|none",
     "Which GPU to use: the driver's where one is found, the emulator, or none."},
    {"LATH_JOB_NAME", Type::text, "", "",
     "Set in processes that Lath starts: the socket name by which they find each other."},
    {"LATH_JOB_RANK", Type::integer, "0", "", "Set in processes that Lath starts: this process' number.", 0,
     INT32_MAX},
    {"LATH_JOB_SIZE", Type::integer, "0", "",
     "Set in processes that Lath starts: how many there are; 0 elsewhere.", 0, INT32_MAX},
    {"LATH_JOB_TIMEOUT", Type::integer, "600", "",
     "Seconds that a process waits for the others of its job to come or to answer.", 0, longest_time},
    {"LATH_KEEP_REGISTRATIONS", Type::boolean, "1", "",
     "Whether registrations of host memory are kept after use, where unmapping hooks can be installed."},
    {"LATH_KEPT_REGISTERED_BYTES", Type::bytes, "1024G", "",
     "Registered memory of one worker that is kept after use, at most."},
    {"LATH_KEPT_REGISTRATIONS", Type::integer, "1024", "",
     "Registrations of one worker that are kept after use, at most."},
    {"LATH_LOG", Type::choice, "warn", "off|error|warn|info|debug",
     "Least severe log lines that are written to standard error."},
    {"LATH_PROVIDER", Type::text, "", "",
     "Provider to use, such as ofi, ofi:tcp, verbs or ucx:shm (ucx: and what UCX_TLS takes); empty: the "
     "first viable one."},
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

/// Nothing where the text is no number of the variable's kind and range.
std::optional<std::int64_t> number_of(const Variable& variable, std::string_view text) {
  std::int64_t factor = 1;
  constexpr std::string_view letters = "KMG";
  if (variable.type == Type::bytes && !text.empty())
    if (const auto at = letters.find(text.back()); at != std::string_view::npos) {
      factor = std::int64_t{1} << (10 * (at + 1));
      text.remove_suffix(1);
    }
  const auto number = decimal(text);
  if (!number || *number < 0 || *number > INT64_MAX / factor) return std::nullopt;
  const std::int64_t scaled = *number * factor;
  return scaled < variable.least || scaled > variable.most ? std::nullopt : std::optional(scaled);
}

std::optional<bool> boolean_of(std::string_view text) {
  if (is_choice("1|yes|true|on", text)) return true;
  if (is_choice("0|no|false|off", text)) return false;
  return std::nullopt;
}

bool is_usable(const Variable& variable, std::string_view value) {
  switch (variable.type) {
    case Type::text:
      return true;
    case Type::integer:
    case Type::bytes:
      return number_of(variable, value).has_value();
    case Type::boolean:
      return boolean_of(value).has_value();
    case Type::choice:
      return is_choice(variable.choices, value);
  }
  return false;
}

std::string range_of(const Variable& variable) {
  if (variable.most != INT64_MAX) return fmt::format(" from {} to {}", variable.least, variable.most);
  return variable.least > 0 ? fmt::format(" of at least {}", variable.least) : "";
}

std::string complaint(const Variable& variable, std::string_view value) {
  std::string expected;
  switch (variable.type) {
    case Type::text:
      break;
    case Type::integer:
      expected = "a whole number" + range_of(variable);
      break;
    case Type::bytes:
      expected = "a byte count" + range_of(variable) + ", such as 65536, 64K or 1M";
      break;
    case Type::boolean:
      expected = "one of 1, 0, yes, no, true, false, on, off";
      break;
    case Type::choice:
      expected = fmt::format("one of {}", variable.choices);
      break;
  }
  return fmt::format("{}='{}' is not {}", variable.name, value, expected);
}

[[noreturn]] void refuse(const Variable& variable, std::string_view value) {
  throw Error(Code::parse, complaint(variable, value));
}

std::int64_t number(std::string_view name) {
  const Variable& variable = find(name);
  const std::string value = config::value(variable);
  const auto number = number_of(variable, value);
  if (!number) refuse(variable, value);
  return *number;
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

std::string value(const Variable& variable) {
  const std::lock_guard lock(values_mutex);
  if (!values) values = read_environment();
  const auto at = values->find(variable.name);
  return at == values->end() ? std::string(variable.default_value) : at->second;
}

std::string text(std::string_view variable) {
  const Variable& entry = find(variable);
  std::string value = config::value(entry);
  if (entry.type == Type::choice && !is_usable(entry, value)) refuse(entry, value);
  return value;
}

std::int64_t integer(std::string_view variable) {
  return number(variable);
}

std::int64_t bytes(std::string_view variable) {
  return number(variable);
}

bool boolean(std::string_view variable) {
  const Variable& entry = find(variable);
  const std::string value = config::value(entry);
  const auto yes = boolean_of(value);
  if (!yes) refuse(entry, value);
  return *yes;
}

std::string problem(const Variable& variable) {
  const std::string value = config::value(variable);
  return is_usable(variable, value) ? "" : complaint(variable, value);
}

void require_usable() {
  std::string problems;
  for (const Variable& variable : table)
    if (const std::string one = problem(variable); !one.empty())
      problems += (problems.empty() ? "" : "; ") + one;
  if (!problems.empty()) throw Error(Code::parse, problems);
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
