#pragma once

#include <fmt/format.h>

#include <string_view>

/// Log lines on standard error, written by spdlog, at LATH_LOG's level (off, error, warn, info, debug;
/// default warn). Thread safe. Never called on the small-message path.
namespace lath::log {

enum class Level { error, warn, info, debug };

[[nodiscard]] bool enabled(Level level) noexcept;
void write(Level level, std::string_view text) noexcept;

template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::error)) write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::warn)) write(Level::warn, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::info)) write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::debug)) write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lath::log
