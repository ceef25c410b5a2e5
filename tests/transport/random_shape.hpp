#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "datatypes/datatype.hpp"
#include "datatypes/layout.hpp"

namespace lath::transport {

/// A random datatype without overlaps, and where its packed bytes lie, found by walking the constructors'
/// definitions byte by byte: an oracle that shares no code with Layout.
struct Shape {
  Datatype type;
  std::vector<std::int64_t> bytes;  ///< offset of every packed byte

  [[nodiscard]] Shape repeated(std::int64_t count) const {
    Shape out{Datatype::contiguous(count, type), {}};
    for (std::int64_t i = 0; i < count; ++i) out.append(*this, i * type.extent());
    return out;
  }
  void append(const Shape& inner, std::int64_t displacement) {
    for (const std::int64_t offset : inner.bytes) bytes.push_back(offset + displacement);
  }
};

class RandomShapes {
 public:
  explicit RandomShapes(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  std::mt19937_64& engine() { return random_; }

  /// Depth 0: one block.
  Shape shape(int depth) {
    if (depth == 0) {
      static constexpr Basic basics[] = {Basic::byte_, Basic::short_, Basic::int_, Basic::double_};
      const Datatype basic = Datatype::basic(basics[number(0, 3)]);
      Shape out{basic, {}};
      for (std::int64_t i = 0; i < basic.size(); ++i) out.bytes.push_back(i);
      return out.repeated(number(1, 12));
    }
    const Shape inner = shape(depth - 1);
    switch (number(0, 4)) {
      case 0:
        return inner.repeated(number(1, 4));
      case 1:
        return vector(inner);
      case 2:
        return hvector(inner);
      case 3:
        return hindexed(inner);
      default:
        return structure(inner, shape(depth - 1));
    }
  }

 private:
  Shape vector(const Shape& inner) {
    const std::int64_t count = number(1, 9);
    const std::int64_t block = number(1, 3);
    const std::int64_t stride = (block + number(0, 3)) * (number(0, 3) == 0 ? -1 : 1);
    Shape out{Datatype::vector(count, block, stride, inner.type), {}};
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < block; ++j) out.append(inner, (i * stride + j) * inner.type.extent());
    return out;
  }
  Shape hvector(const Shape& inner) {
    const std::int64_t count = number(1, 9);
    const std::int64_t stride = inner.type.extent() + number(0, 40);
    Shape out{Datatype::hvector(count, 1, stride, inner.type), {}};
    for (std::int64_t i = 0; i < count; ++i) out.append(inner, i * stride);
    return out;
  }
  Shape hindexed(const Shape& inner) {
    std::vector<std::int64_t> displacements(static_cast<std::size_t>(number(1, 7)));
    std::int64_t next = 0;
    for (auto& displacement : displacements) {
      displacement = next;
      next += inner.type.extent() + number(0, 30);
    }
    std::shuffle(displacements.begin(), displacements.end(), random_);
    const std::vector<std::int64_t> ones(displacements.size(), 1);
    Shape out{Datatype::hindexed(ones, displacements, inner.type), {}};
    for (const std::int64_t displacement : displacements) out.append(inner, displacement);
    return out;
  }
  Shape structure(const Shape& first, const Shape& second) {
    // Both members' data lies between their bounds, so the second one's may begin where the first one's end.
    const std::int64_t at =
        first.type.lower_bound() + first.type.extent() - second.type.lower_bound() + number(0, 20);
    const std::int64_t ones[] = {1, 1};
    const std::int64_t displacements[] = {0, at};
    const Datatype members[] = {first.type, second.type};
    Shape out{Datatype::struct_(ones, displacements, members), {}};
    out.append(first, 0);
    out.append(second, at);
    return out;
  }

  std::mt19937_64 random_;
};

}  // namespace lath::transport
