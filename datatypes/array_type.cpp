// subarray and darray by simpler constructors (MPI-4.1 sections 5.1.3 and 5.1.4).
#include <fmt/format.h>

#include "datatypes/checked.hpp"
#include "datatypes/node.hpp"

namespace lath {
namespace {

constexpr const char* array_size = "the size of the whole array in bytes";

[[noreturn]] void refuse(std::string text) {
  throw Error(Code::invalid_argument, std::move(text));
}

/// The dimension that runs `fast` places after the fastest.
std::size_t dimension(const Datatype::Node& node, std::size_t fast) {
  return node.order == Order::fortran ? fast : node.sizes.size() - 1 - fast;
}

/// `part` at a displacement inside an array of `bytes`, with that array's extent.
Datatype place(const Datatype& part, std::int64_t displacement, std::int64_t bytes) {
  const std::int64_t one = 1;
  return Datatype::resized(0, bytes, Datatype::hindexed({&one, 1}, {&displacement, 1}, part));
}

/// The elements that process `rank` of `processes` owns of one dimension, dealt out in blocks of `block`.
struct Share {
  std::int64_t first = 0;   ///< element where the first block begins
  std::int64_t blocks = 0;  ///< whole blocks
  std::int64_t rest = 0;    ///< elements of a last, shorter block
  std::int64_t step = 0;    ///< elements from one block to the next
  std::int64_t block = 1;
};

Share share(std::int64_t elements, std::int64_t block, std::int64_t rank, std::int64_t processes) {
  Share result;
  result.block = block;
  const std::int64_t all = elements / block;  // whole blocks of the dimension
  result.blocks = all > rank ? (all - rank - 1) / processes + 1 : 0;
  if (all % processes == rank) result.rest = elements % block;
  if (result.blocks + result.rest == 0) return result;
  // Past here rank < all + 1, so rank * block is within the dimension.
  result.first = rank * block;
  if (result.blocks + (result.rest > 0 ? 1 : 0) > 1) result.step = processes * block;
  return result;
}

Datatype deal(const Share& share, std::int64_t stride, const Datatype& inner) {
  Datatype rest = Datatype::hvector(share.rest, 1, stride, inner);
  if (share.blocks == 0) return rest;
  const Datatype whole = Datatype::hvector(share.block, 1, stride, inner);
  Datatype blocks = Datatype::hvector(share.blocks, 1, share.step * stride, whole);
  if (share.rest == 0) return blocks;
  const Datatype members[] = {blocks, rest};
  const std::int64_t lengths[] = {1, 1};
  const std::int64_t displacements[] = {0, share.blocks * share.step * stride};
  return Datatype::struct_(lengths, displacements, members);
}

std::int64_t block_of(const Datatype::Node& node, std::size_t d) {
  const std::int64_t argument = node.arguments[d];
  const std::int64_t elements = node.sizes[d];
  const std::int64_t processes = node.psizes[d];
  if (node.distributions[d] == Distribution::none) {
    if (processes != 1)
      refuse(fmt::format("darray: dimension {} is not distributed, but its psize is {}", d, processes));
    return elements;
  }
  if (argument != default_distribution && argument < 1)
    refuse(fmt::format("darray: distribution argument {} of dimension {} must be positive or default",
                       argument, d));
  if (node.distributions[d] == Distribution::cyclic) return argument == default_distribution ? 1 : argument;
  const std::int64_t least = (elements - 1) / processes + 1;
  if (argument == default_distribution) return least;
  if (argument < least)
    refuse(fmt::format("darray: block of {} on {} processes does not cover the {} elements of dimension {}",
                       argument, processes, elements, d));
  return argument;
}

void check_grid(const Datatype::Node& node) {
  if (node.sizes.empty()) refuse("darray: needs at least one dimension");
  std::int64_t processes = 1;
  for (std::size_t d = 0; d < node.sizes.size(); ++d) {
    if (node.sizes[d] < 1)
      refuse(fmt::format("darray: gsize {} of dimension {} must be positive", node.sizes[d], d));
    if (node.psizes[d] < 1)
      refuse(fmt::format("darray: psize {} of dimension {} must be positive", node.psizes[d], d));
    processes = checked_multiply(processes, node.psizes[d], "darray: the number of processes");
  }
  if (processes != node.processes)
    refuse(fmt::format("darray: psizes multiply to {}, size is {}", processes, node.processes));
  if (node.rank < 0 || node.rank >= node.processes)
    refuse(fmt::format("darray: rank {} is not below size {}", node.rank, node.processes));
}

}  // namespace

Datatype lower_subarray(const Datatype::Node& node, const Datatype& inner) {
  if (node.sizes.empty()) refuse("subarray: needs at least one dimension");
  for (std::size_t d = 0; d < node.sizes.size(); ++d) {
    if (node.subsizes[d] < 1 || node.subsizes[d] > node.sizes[d])
      refuse(fmt::format("subarray: subsize {} of dimension {} must be 1 to {}", node.subsizes[d], d,
                         node.sizes[d]));
    if (node.starts[d] < 0 || node.starts[d] > node.sizes[d] - node.subsizes[d])
      refuse(fmt::format("subarray: start {} of dimension {} must be 0 to {}", node.starts[d], d,
                         node.sizes[d] - node.subsizes[d]));
  }
  Datatype part = inner;
  std::int64_t stride = inner.extent();
  std::int64_t displacement = 0;
  for (std::size_t fast = 0; fast < node.sizes.size(); ++fast) {
    const std::size_t d = dimension(node, fast);
    part = Datatype::hvector(node.subsizes[d], 1, stride, part);
    displacement =
        checked_add(displacement, checked_multiply(node.starts[d], stride, array_size), array_size);
    stride = checked_multiply(stride, node.sizes[d], array_size);
  }
  return place(part, displacement, stride);
}

Datatype lower_darray(const Datatype::Node& node, const Datatype& inner) {
  check_grid(node);
  std::vector<std::int64_t> coordinates(node.sizes.size());
  std::int64_t remaining = node.rank;  // the process grid is row-major in either order
  for (std::size_t d = node.sizes.size(); d-- > 0;) {
    coordinates[d] = remaining % node.psizes[d];
    remaining /= node.psizes[d];
  }
  Datatype part = inner;
  std::int64_t stride = inner.extent();
  std::int64_t displacement = 0;
  for (std::size_t fast = 0; fast < node.sizes.size(); ++fast) {
    const std::size_t d = dimension(node, fast);
    const std::int64_t whole = checked_multiply(stride, node.sizes[d], array_size);
    const Share own = share(node.sizes[d], block_of(node, d), coordinates[d], node.psizes[d]);
    part = deal(own, stride, part);
    displacement = checked_add(displacement, own.first * stride, array_size);
    stride = whole;
  }
  return place(part, displacement, stride);
}

}  // namespace lath
