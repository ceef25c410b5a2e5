#include "datatypes/element_sequence.hpp"

namespace lath {
namespace {

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t base = 0x0d6e8feb86659fd9;

std::uint64_t reduced(std::uint64_t value) {
  value = (value & prime) + (value >> 61);
  return value >= prime ? value - prime : value;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide wide = static_cast<Wide>(a) * b;
  return reduced((static_cast<std::uint64_t>(wide) & prime) + static_cast<std::uint64_t>(wide >> 61));
}

/// Spreads the few basic types over the whole range.
std::uint64_t spread(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

ElementSequence ElementSequence::of(Basic element) noexcept {
  return {1, reduced(spread(static_cast<std::uint64_t>(element) + 1)), reduced(base)};
}

ElementSequence concatenated(const ElementSequence& first, const ElementSequence& second) noexcept {
  return {first.elements + second.elements, reduced(product(first.hash, second.power) + second.hash),
          product(first.power, second.power)};
}

ElementSequence repeated(ElementSequence sequence, std::int64_t count) noexcept {
  ElementSequence result;
  const std::int64_t elements = sequence.elements * count;
  sequence.elements = 0;  // squares of it may not fit; the product does
  for (; count > 0; count /= 2) {
    if (count % 2 == 1) result = concatenated(result, sequence);
    sequence = concatenated(sequence, sequence);
  }
  result.elements = elements;
  return result;
}

}  // namespace lath
