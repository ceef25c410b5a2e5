#include "datatypes/basic_type.hpp"

#include <complex>
#include <cstddef>

namespace lath {
namespace {

template <class T>
constexpr BasicType single(std::string_view name, Basic basic) {
  return {name, sizeof(T), alignof(T), 1, {{{basic, 0, sizeof(T)}, {basic, 0, 0}}}};
}

template <class First, class Second>
constexpr BasicType pair(std::string_view name, Basic first, Basic second) {
  struct Pair {
    First a;
    Second b;
  };
  return {name,
          sizeof(Pair),
          alignof(Pair),
          2,
          {{{first, 0, sizeof(First)}, {second, offsetof(Pair, b), sizeof(Second)}}}};
}

constexpr std::array<BasicType, basic_count> types = {
    single<std::byte>("byte", Basic::byte_),
    single<char>("char", Basic::char_),
    single<short>("short", Basic::short_),
    single<int>("int", Basic::int_),
    single<unsigned>("unsigned", Basic::unsigned_),
    single<long>("long", Basic::long_),
    single<long long>("long_long", Basic::long_long),
    single<float>("float", Basic::float_),
    single<double>("double", Basic::double_),
    single<long double>("long_double", Basic::long_double),
    single<std::int8_t>("int8_t", Basic::int8),
    single<std::int16_t>("int16_t", Basic::int16),
    single<std::int32_t>("int32_t", Basic::int32),
    single<std::int64_t>("int64_t", Basic::int64),
    single<std::uint8_t>("uint8_t", Basic::uint8),
    single<std::uint16_t>("uint16_t", Basic::uint16),
    single<std::uint32_t>("uint32_t", Basic::uint32),
    single<std::uint64_t>("uint64_t", Basic::uint64),
    single<bool>("c_bool", Basic::c_bool),
    single<std::complex<float>>("c_float_complex", Basic::c_float_complex),
    single<std::complex<double>>("c_double_complex", Basic::c_double_complex),
    pair<float, int>("float_int", Basic::float_, Basic::int_),
    pair<double, int>("double_int", Basic::double_, Basic::int_),
    pair<long, int>("long_int", Basic::long_, Basic::int_),
    pair<short, int>("short_int", Basic::short_, Basic::int_),
    pair<int, int>("2int", Basic::int_, Basic::int_),
};

}  // namespace

const BasicType& basic_type(Basic basic) noexcept {
  return types[static_cast<std::size_t>(basic)];
}

std::string_view name(Basic basic) {
  return basic_type(basic).name;
}

}  // namespace lath
