#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace lath {

/// The whole text as a whole number in decimal digits, leading zeros included; a minus sign may stand before
/// them. Nothing where it is anything else or does not fit 64 bits. Thread safe.
[[nodiscard]] inline std::optional<std::int64_t> decimal(std::string_view text) noexcept {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || rest != end) return std::nullopt;
  return number;
}

}  // namespace lath
