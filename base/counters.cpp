#include "base/counters.hpp"

namespace lath {
namespace {

struct Field {
  std::string_view name;
  std::uint64_t Counters::*member;
};

constexpr std::array<Field, Counters::field_count> fields_of_counters{{
    {"messages", &Counters::messages},
    {"segments", &Counters::segments},
    {"work_requests", &Counters::work_requests},
    {"doorbells", &Counters::doorbells},
    {"pack_copies", &Counters::pack_copies},
    {"staged_bytes", &Counters::staged_bytes},
    {"wire_bytes", &Counters::wire_bytes},
    {"registrations", &Counters::registrations},
    {"driver_calls", &Counters::driver_calls},
    {"event_polls", &Counters::event_polls},
}};
static_assert(sizeof(Counters) == sizeof(std::uint64_t) * Counters::field_count);

}  // namespace

std::array<std::pair<std::string_view, std::uint64_t>, Counters::field_count> Counters::fields() const {
  std::array<std::pair<std::string_view, std::uint64_t>, field_count> out;
  for (std::size_t i = 0; i < field_count; ++i)
    out[i] = {fields_of_counters[i].name, this->*fields_of_counters[i].member};
  return out;
}

Counters& Counters::operator+=(const Counters& other) {
  for (const Field& field : fields_of_counters) this->*field.member += other.*field.member;
  return *this;
}

Counters& Counters::operator-=(const Counters& other) {
  for (const Field& field : fields_of_counters) this->*field.member -= other.*field.member;
  return *this;
}

}  // namespace lath
