#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace lath {

/// What a worker has done, in counts that do not depend on the machine's speed. Owned and written by one
/// worker under its own thread rules; read by copying. The names are the keys of JSON reports.
struct Counters {
  std::uint64_t messages = 0;       ///< point-to-point messages sent plus one-sided operations started
  std::uint64_t segments = 0;       ///< merged layout segments of the messages sent
  std::uint64_t work_requests = 0;  ///< operations handed to the provider (control ones too)
  std::uint64_t doorbells = 0;      ///< submissions: a batch linked by "more" counts once
  std::uint64_t pack_copies =
      0;  ///< passes of a CPU or a kernel over a message's payload (a chunked pass counts once a message)
  std::uint64_t staged_bytes = 0;   ///< payload bytes that went through host bounce memory
  std::uint64_t wire_bytes = 0;     ///< bytes handed to the provider, headers included
  std::uint64_t registrations = 0;  ///< memory registrations made
  std::uint64_t driver_calls = 0;   ///< GPU driver calls that submit, copy, allocate, record or wait
  std::uint64_t event_polls = 0;    ///< GPU driver calls that only ask whether an event has passed

  static constexpr std::size_t field_count = 10;
  /// (name, value) in the order above.
  [[nodiscard]] std::array<std::pair<std::string_view, std::uint64_t>, field_count> fields() const;
  Counters& operator+=(const Counters& other);
  Counters& operator-=(const Counters& other);
};

}  // namespace lath
