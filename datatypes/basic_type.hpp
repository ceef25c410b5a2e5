#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "datatypes/datatype.hpp"

namespace lath {

/// One member of a basic type: what it counts as in a signature, and where it lies.
struct BasicMember {
  Basic element;
  std::int64_t offset;
  std::int64_t length;
};

/// What is known of a basic type. Pair types have two members, all others one.
struct BasicType {
  std::string_view name;
  std::int64_t extent;
  std::int64_t alignment;
  int members;
  std::array<BasicMember, 2> member;

  [[nodiscard]] std::int64_t size() const noexcept {
    return member[0].length + (members == 2 ? member[1].length : 0);
  }
  [[nodiscard]] std::int64_t true_extent() const noexcept {
    const BasicMember& last = member[static_cast<std::size_t>(members - 1)];
    return last.offset + last.length;
  }
};

const BasicType& basic_type(Basic basic) noexcept;

}  // namespace lath
