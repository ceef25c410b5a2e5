#pragma once

#include <cstdint>

#include "gpu/kernel.hpp"

/// The bodies of the pack and unpack kernels: one for strided nests, one for segment tables, each for a word
/// size and a direction. A body's items are the words of a packed range, then its odd bytes.
namespace lath::gpu {

/// Deepest nest that a kernel takes by value.
inline constexpr int max_rank = 8;

/// What both kinds of kernel need to know of a packed range (split_words() makes the figures).
struct PackedShare {
  char* base;           ///< the layout's buffer address
  char* packed;         ///< where packed byte `begin` lies
  std::uint64_t begin;  ///< packed offset
  std::uint64_t head;
  std::uint64_t words;
  std::uint64_t tail;
};

struct NestLoop {
  std::uint64_t count;
  std::int64_t stride;
};

struct NestArguments {
  PackedShare share;
  std::int64_t offset;
  std::uint64_t block;
  int rank;
  NestLoop loops[max_rank];  ///< outermost first
};

/// offsets[i] from base, and prefix[i], the packed offset of segment i; prefix has one entry more.
struct TableArguments {
  PackedShare share;
  const std::int64_t* offsets;
  const std::int64_t* prefix;
  std::uint64_t segments;
};

/// Words may alias whatever type the user's data has.
template <int bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type = unsigned char;
};
template <>
struct WordOf<2> {
  typedef std::uint16_t __attribute__((may_alias)) type;
};
template <>
struct WordOf<4> {
  typedef std::uint32_t __attribute__((may_alias)) type;
};
template <>
struct WordOf<8> {
  typedef std::uint64_t __attribute__((may_alias)) type;
};
template <>
struct WordOf<16> {
  struct __attribute__((may_alias, aligned(16))) type {
    std::uint64_t low, high;
  };
};

/// quotient = value / divisor, value = value % divisor; in 32 bits where both fit, several times faster on
/// GPUs.
LATH_KERNEL_BODY std::uint64_t divide(std::uint64_t& value, std::uint64_t divisor) {
  std::uint64_t quotient;
  if (((value | divisor) >> 32) == 0) {
    const auto short_value = static_cast<std::uint32_t>(value);
    const auto short_divisor = static_cast<std::uint32_t>(divisor);
    quotient = short_value / short_divisor;
    value = short_value % short_divisor;
  } else {
    quotient = value / divisor;
    value -= quotient * divisor;
  }
  return quotient;
}

/// Where a packed byte lies, from the buffer address.
LATH_KERNEL_BODY std::int64_t place_in_nest(const NestArguments& nest, std::uint64_t packed) {
  std::uint64_t within = packed;
  std::uint64_t index = divide(within, nest.block);
  std::int64_t place = nest.offset + static_cast<std::int64_t>(within);
  for (int level = nest.rank - 1; level >= 0; --level) {
    std::uint64_t digit = index;
    index = divide(digit, nest.loops[level].count);
    place += static_cast<std::int64_t>(digit) * nest.loops[level].stride;
  }
  return place;
}

/// The same for a table: the segment is the last one that starts at or before the byte.
LATH_KERNEL_BODY std::int64_t place_in_table(const std::int64_t* offsets, const std::int64_t* prefix,
                                             std::uint64_t segments, std::uint64_t packed) {
  const auto wanted = static_cast<std::int64_t>(packed);
  std::uint64_t low = 0;
  std::uint64_t high = segments;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (prefix[middle] <= wanted)
      low = middle;
    else
      high = middle;
  }
  return offsets[low] + (wanted - prefix[low]);
}

template <class Word, bool packing>
LATH_KERNEL_BODY void move_word(char* user, char* packed) {
  auto* const there = reinterpret_cast<Word*>(user);
  auto* const here = reinterpret_cast<Word*>(packed);
  if (packing)
    *here = *there;
  else
    *there = *here;
}

/// Moves every item of the share; `place` maps a packed offset to an offset from base.
template <int word, bool packing, class Place>
LATH_KERNEL_BODY void move_share(const PackedShare& share, const Grid& grid, const Place& place) {
  char* const base = grid.address(share.base);
  char* const packed = grid.address(share.packed);
  const std::uint64_t items = share.head + share.words + share.tail;
  for (std::uint64_t item = grid.first(); item < items; item += grid.step()) {
    if (item < share.words) {
      const std::uint64_t at = share.head + item * word;
      move_word<typename WordOf<word>::type, packing>(base + place(share.begin + at), packed + at);
    } else {
      const std::uint64_t odd = item - share.words;
      const std::uint64_t at = odd < share.head ? odd : odd + share.words * word;
      move_word<unsigned char, packing>(base + place(share.begin + at), packed + at);
    }
  }
}

struct PlaceInNest {
  const NestArguments& nest;
  LATH_KERNEL_BODY std::int64_t operator()(std::uint64_t packed) const { return place_in_nest(nest, packed); }
};

struct PlaceInTable {
  const std::int64_t* offsets;
  const std::int64_t* prefix;
  std::uint64_t segments;
  LATH_KERNEL_BODY std::int64_t operator()(std::uint64_t packed) const {
    return place_in_table(offsets, prefix, segments, packed);
  }
};

template <int word, bool packing>
LATH_KERNEL_BODY void move_nest(const NestArguments& arguments, const Grid& grid) {
  move_share<word, packing>(arguments.share, grid, PlaceInNest{arguments});
}

template <int word, bool packing>
LATH_KERNEL_BODY void move_table(const TableArguments& arguments, const Grid& grid) {
  const PlaceInTable place{grid.address(arguments.offsets), grid.address(arguments.prefix),
                           arguments.segments};
  move_share<word, packing>(arguments.share, grid, place);
}

}  // namespace lath::gpu
