#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include "datatypes/layout.hpp"
#include "datatypes/node.hpp"

namespace lath {
/// For test messages.
inline void PrintTo(const LayoutSegment& segment, std::ostream* out) {
  *out << segment.offset << "+" << segment.length;
}
}  // namespace lath

/// An independent reading of MPI-4.1 section 5.1: a type's typemap written out element by element, from the
/// arguments of its constructors alone. It knows nothing of layouts, nor of the library's bounds.
namespace lath::oracle {

struct Typemap {
  std::vector<LayoutSegment> entries;  ///< basic elements in order
  std::optional<std::int64_t> lower, upper;
  bool marked = false;
  std::int64_t alignment = 1;

  [[nodiscard]] std::int64_t lb() const { return lower.value_or(0); }
  [[nodiscard]] std::int64_t ub() const { return upper.value_or(0); }
  [[nodiscard]] std::int64_t extent() const { return ub() - lb(); }

  void append(const Typemap& part, std::int64_t at) {
    for (const LayoutSegment& entry : part.entries) entries.push_back({entry.offset + at, entry.length});
    if (!part.lower) return;
    alignment = std::max(alignment, part.alignment);
    const bool fresh = !lower || (part.marked && !marked);
    if (!fresh && marked && !part.marked) return;
    lower = fresh ? part.lb() + at : std::min(lb(), part.lb() + at);
    upper = fresh ? part.ub() + at : std::max(ub(), part.ub() + at);
    marked = part.marked;
  }
  void append(const Typemap& part, std::int64_t count, std::int64_t at) {
    for (std::int64_t i = 0; i < count; ++i) append(part, at + i * part.extent());
  }
};

inline Typemap element(std::vector<LayoutSegment> entries, std::int64_t extent, std::int64_t alignment) {
  return {std::move(entries), 0, extent, false, alignment};
}

inline Typemap basic(Basic type) {
  switch (type) {
    case Basic::float_int:
    case Basic::two_int:
      return element({{0, 4}, {4, 4}}, 8, 4);
    case Basic::double_int:
    case Basic::long_int:
      return element({{0, 8}, {8, 4}}, 16, 8);
    case Basic::short_int:
      return element({{0, 2}, {4, 4}}, 8, 4);
    case Basic::long_double:
      return element({{0, 16}}, 16, 16);
    case Basic::c_float_complex:
      return element({{0, 8}}, 8, 4);
    case Basic::c_double_complex:
      return element({{0, 16}}, 16, 8);
    case Basic::byte_:
    case Basic::char_:
    case Basic::int8:
    case Basic::uint8:
    case Basic::c_bool:
      return element({{0, 1}}, 1, 1);
    case Basic::short_:
    case Basic::int16:
    case Basic::uint16:
      return element({{0, 2}}, 2, 2);
    case Basic::int_:
    case Basic::unsigned_:
    case Basic::int32:
    case Basic::uint32:
    case Basic::float_:
      return element({{0, 4}}, 4, 4);
    default:
      return element({{0, 8}}, 8, 8);
  }
}

/// Elements of a whole array, in storage order, of which `owned(dimension, index)` says which are taken.
template <class Owned>
Typemap array(const Datatype::Node& node, const Typemap& inner, Owned&& owned) {
  const std::size_t dimensions = node.sizes.size();
  std::int64_t total = 1;
  for (const std::int64_t size : node.sizes) total *= size;
  Typemap result;
  for (std::int64_t i = 0; i < total; ++i) {
    bool taken = true;
    std::int64_t rest = i;
    for (std::size_t fast = 0; fast < dimensions; ++fast) {
      const std::size_t d = node.order == Order::fortran ? fast : dimensions - 1 - fast;
      taken = taken && owned(d, rest % node.sizes[d]);
      rest /= node.sizes[d];
    }
    if (taken) result.append(inner, i * inner.extent());
  }
  result.lower = 0;
  result.upper = total * inner.extent();
  result.marked = true;
  return result;
}

inline Typemap subarray(const Datatype::Node& node, const Typemap& inner) {
  return array(node, inner, [&](std::size_t d, std::int64_t index) {
    return index >= node.starts[d] && index < node.starts[d] + node.subsizes[d];
  });
}

inline Typemap darray(const Datatype::Node& node, const Typemap& inner) {
  return array(node, inner, [&](std::size_t d, std::int64_t index) {
    if (node.distributions[d] == Distribution::none) return true;
    std::int64_t later = 1;
    for (std::size_t i = d + 1; i < node.psizes.size(); ++i) later *= node.psizes[i];
    const std::int64_t coordinate = node.rank / later % node.psizes[d];
    std::int64_t block = node.arguments[d];
    if (block == default_distribution)
      block = node.distributions[d] == Distribution::cyclic
                  ? 1
                  : (node.sizes[d] + node.psizes[d] - 1) / node.psizes[d];
    return index / block % node.psizes[d] == coordinate;
  });
}

inline Typemap typemap(const Datatype& type) {
  const Datatype::Node& node = type.node();
  Typemap result;
  if (node.combiner == Combiner::named) return basic(node.basic);
  std::vector<Typemap> inner;
  for (const Datatype& part : node.inner) inner.push_back(typemap(part));
  const auto listed = [&](std::int64_t unit) {
    for (std::size_t i = 0; i < node.displacements.size(); ++i)
      result.append(inner[0], node.block_lengths.empty() ? node.block_length : node.block_lengths[i],
                    node.displacements[i] * unit);
  };
  const auto strided = [&](std::int64_t unit) {
    for (std::int64_t i = 0; i < node.count; ++i)
      result.append(inner[0], node.block_length, i * node.stride * unit);
  };
  switch (node.combiner) {
    case Combiner::named:
      break;
    case Combiner::contiguous:
      result.append(inner[0], node.count, 0);
      break;
    case Combiner::vector:
      strided(inner[0].extent());
      break;
    case Combiner::hvector:
      strided(1);
      break;
    case Combiner::indexed:
    case Combiner::indexed_block:
      listed(inner[0].extent());
      break;
    case Combiner::hindexed:
    case Combiner::hindexed_block:
      listed(1);
      break;
    case Combiner::struct_:
      for (std::size_t i = 0; i < inner.size(); ++i)
        result.append(inner[i], node.block_lengths[i], node.displacements[i]);
      if (result.lower && !result.marked)
        while (result.extent() % result.alignment != 0) result.upper = result.ub() + 1;
      break;
    case Combiner::subarray:
      return subarray(node, inner[0]);
    case Combiner::darray:
      return darray(node, inner[0]);
    case Combiner::resized:
      result = inner[0];
      result.lower = node.bounds.lower;
      result.upper = node.bounds.upper;
      result.marked = true;
      break;
    case Combiner::dup:
      return inner[0];
  }
  return result;
}

/// Elements of `count` copies.
inline std::vector<LayoutSegment> elements(const Typemap& map, std::int64_t count) {
  Typemap all;
  all.append(map, count, 0);
  return all.entries;
}

/// Neighbours that meet end to start become one.
inline std::vector<LayoutSegment> merged(const std::vector<LayoutSegment>& elements) {
  std::vector<LayoutSegment> result;
  for (const LayoutSegment& entry : elements) {
    if (!result.empty() && result.back().offset + result.back().length == entry.offset)
      result.back().length += entry.length;
    else
      result.push_back(entry);
  }
  return result;
}

}  // namespace lath::oracle
