#include "apps/wave/toml_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace lath::wave {

TomlTable::TomlTable(const toml::table& table, std::string file, std::string path)
    : table_(table), file_(std::move(file)), path_(std::move(path)) {}

std::string TomlTable::name(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void TomlTable::fail(std::string_view key, std::string_view expected) const {
  const toml::node* found = table_.get(key);
  const toml::node& at = found != nullptr ? *found : table_;
  throw Error(Code::parse,
              fmt::format("{}:{}: {} {}: expected {}", file_, std::max(1U, at.source().begin.line),
                          found != nullptr ? "bad value of" : "missing", name(key), expected));
}

void TomlTable::allow(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : table_) {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
    throw Error(Code::parse, fmt::format("{}:{}: unknown key {}: expected one of {}", file_,
                                         value.source().begin.line, name(key.str()), fmt::join(keys, ", ")));
  }
}

const toml::node& TomlTable::node(std::string_view key, std::string_view expected) const {
  const toml::node* found = table_.get(key);
  if (found == nullptr) fail(key, expected);
  return *found;
}

double TomlTable::number(std::string_view key) const {
  constexpr std::string_view expected = "a finite number";
  const std::optional<double> value = node(key, expected).value<double>();
  if (!value || !std::isfinite(*value)) fail(key, expected);
  return *value;
}

double TomlTable::number(std::string_view key, double otherwise) const {
  return has(key) ? number(key) : otherwise;
}

double TomlTable::positive(std::string_view key) const {
  constexpr std::string_view expected = "a number above 0";
  if (!has(key)) fail(key, expected);
  const double value = number(key);
  if (value <= 0.0) fail(key, expected);
  return value;
}

std::int64_t TomlTable::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const std::string expected = fmt::format("an integer from {} to {}", least, most);
  const std::optional<std::int64_t> value = node(key, expected).value_exact<std::int64_t>();
  if (!value || *value < least || *value > most) fail(key, expected);
  return *value;
}

std::string TomlTable::text(std::string_view key) const {
  constexpr std::string_view expected = "a text in quotes";
  const std::optional<std::string> value = node(key, expected).value_exact<std::string>();
  if (!value || value->empty()) fail(key, expected);
  return *value;
}

std::string TomlTable::text(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

std::size_t TomlTable::choice(std::string_view key, std::initializer_list<std::string_view> choices,
                              std::size_t otherwise) const {
  if (!has(key)) return otherwise;
  const std::optional<std::string> value = node(key, "a text").value_exact<std::string>();
  const auto found = value ? std::find(choices.begin(), choices.end(), *value) : choices.end();
  if (found == choices.end()) fail(key, fmt::format("one of \"{}\"", fmt::join(choices, "\", \"")));
  return static_cast<std::size_t>(found - choices.begin());
}

std::vector<double> TomlTable::numbers(std::string_view key, std::size_t count) const {
  const std::string expected = fmt::format("a list of {} finite numbers", count);
  const toml::array* list = node(key, expected).as_array();
  if (list == nullptr || list->size() != count) fail(key, expected);
  std::vector<double> values;
  for (const toml::node& entry : *list) {
    const std::optional<double> value = entry.value<double>();
    if (!value || !std::isfinite(*value)) fail(key, expected);
    values.push_back(*value);
  }
  return values;
}

std::vector<std::int64_t> TomlTable::integers(std::string_view key, std::size_t count, std::int64_t least,
                                              std::int64_t most) const {
  const std::string expected = fmt::format("a list of {} integers from {} to {}", count, least, most);
  const toml::array* list = node(key, expected).as_array();
  if (list == nullptr || list->size() != count) fail(key, expected);
  std::vector<std::int64_t> values;
  for (const toml::node& entry : *list) {
    const std::optional<std::int64_t> value = entry.value_exact<std::int64_t>();
    if (!value || *value < least || *value > most) fail(key, expected);
    values.push_back(*value);
  }
  return values;
}

TomlTable TomlTable::table(std::string_view key) const {
  const std::string expected = fmt::format("a table [{}]", name(key));
  const toml::table* found = node(key, expected).as_table();
  if (found == nullptr) fail(key, expected);
  return TomlTable(*found, file_, name(key));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  std::vector<TomlTable> result;
  if (!has(key)) return result;
  const std::string expected = fmt::format("tables [[{}]]", name(key));
  const toml::array* list = node(key, expected).as_array();
  if (list == nullptr || !list->is_array_of_tables()) fail(key, expected);
  for (std::size_t n = 0; n < list->size(); ++n) {
    result.emplace_back(*list->get(n)->as_table(), file_, fmt::format("{}[{}]", name(key), n + 1));
  }
  return result;
}

}  // namespace lath::wave
