#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lath::wave {

/// Reads one TOML table strictly. Every failure throws Error(parse) with the file, the line, the key's full
/// name and what is expected.
class TomlTable {
 public:
  /// `path` is the table's name as in "source[1]", empty for the file's own.
  TomlTable(const toml::table& table, std::string file, std::string path);

  /// Throws for the first key that is not in the list.
  void allow(std::initializer_list<std::string_view> keys) const;
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }

  [[nodiscard]] double number(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key, double otherwise) const;
  [[nodiscard]] double positive(std::string_view key) const;
  /// In [least, most].
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key, std::string_view otherwise) const;
  /// The number of the choice that the key's text names.
  [[nodiscard]] std::size_t choice(std::string_view key, std::initializer_list<std::string_view> choices,
                                   std::size_t otherwise) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view key, std::size_t count) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key, std::size_t count,
                                                   std::int64_t least, std::int64_t most) const;
  [[nodiscard]] TomlTable table(std::string_view key) const;
  /// Those of [[key]]; none where the key is missing.
  [[nodiscard]] std::vector<TomlTable> tables(std::string_view key) const;

  /// Throws for a key's value (or, where the key is missing, for the table).
  [[noreturn]] void fail(std::string_view key, std::string_view expected) const;

 private:
  [[nodiscard]] const toml::node& node(std::string_view key, std::string_view expected) const;
  [[nodiscard]] std::string name(std::string_view key) const;

  const toml::table& table_;
  std::string file_;
  std::string path_;
};

}  // namespace lath::wave
