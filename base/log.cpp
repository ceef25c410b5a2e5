#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/config.hpp"

namespace lath::log {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::error:
      return spdlog::level::err;
    case Level::warn:
      return spdlog::level::warn;
    case Level::info:
      return spdlog::level::info;
    case Level::debug:
      return spdlog::level::debug;
  }
  return spdlog::level::warn;
}

spdlog::logger& logger() {
  // Leaked on purpose: provider threads may still log while static objects are destroyed.
  static spdlog::logger* instance = [] {
    auto* made = new spdlog::logger("lath", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("lath[%P] %l: %v");
    try {
      made->set_level(spdlog::level::from_str(config::text("LATH_LOG")));
    } catch (const std::exception& problem) {
      made->warn(problem.what());
    }
    return made;
  }();
  return *instance;
}

}  // namespace

bool enabled(Level level) noexcept {
  return logger().should_log(spdlog_level(level));
}

void write(Level level, std::string_view text) noexcept {
  logger().log(spdlog_level(level), text);
}

}  // namespace lath::log
