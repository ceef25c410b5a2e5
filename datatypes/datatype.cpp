#include "datatypes/datatype.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <numeric>

#include "datatypes/basic_type.hpp"
#include "datatypes/checked.hpp"
#include "datatypes/node.hpp"

namespace lath {
namespace {

using Node = Datatype::Node;

constexpr const char* size_of_type = "a datatype's size";
constexpr const char* displacement_of_type = "a datatype's displacement";

std::int64_t not_negative(std::int64_t value, const char* constructor, const char* argument) {
  if (value < 0)
    throw Error(Code::invalid_argument,
                fmt::format("{}: {} is {}, must not be negative", constructor, argument, value));
  return value;
}

void equal_length(std::size_t a, std::size_t b, const char* constructor, const char* name_a,
                  const char* name_b) {
  if (a != b)
    throw Error(Code::invalid_argument,
                fmt::format("{}: {} has {} entries but {} has {}", constructor, name_a, a, name_b, b));
}

Node start(Combiner combiner, std::span<const Datatype> inner) {
  Node node;
  node.combiner = combiner;
  node.inner.assign(inner.begin(), inner.end());
  for (const Datatype& type : inner) node.depth = std::max(node.depth, type.node().depth + 1);
  if (node.depth > deepest_type)
    throw Error(Code::invalid_argument,
                fmt::format("a datatype nested deeper than {} constructors", deepest_type));
  return node;
}

LayoutHash digest_of(const Node& node) {
  std::vector<std::int64_t> words = {static_cast<std::int64_t>(node.combiner),
                                     static_cast<std::int64_t>(node.basic),
                                     node.count,
                                     node.block_length,
                                     node.stride,
                                     node.processes,
                                     node.rank,
                                     static_cast<std::int64_t>(node.order)};
  if (node.combiner == Combiner::resized) words.insert(words.end(), {node.bounds.lower, node.bounds.upper});
  for (const auto* list : {&node.block_lengths, &node.displacements, &node.sizes, &node.subsizes,
                           &node.starts, &node.arguments, &node.psizes}) {
    words.push_back(static_cast<std::int64_t>(list->size()));
    words.insert(words.end(), list->begin(), list->end());
  }
  for (const Distribution distribution : node.distributions)
    words.push_back(static_cast<std::int64_t>(distribution));
  for (const Datatype& inner : node.inner) {
    words.push_back(static_cast<std::int64_t>(inner.node().digest.low));
    words.push_back(static_cast<std::int64_t>(inner.node().digest.high));
  }
  const XXH128_hash_t hash = XXH3_128bits(words.data(), words.size() * sizeof(std::int64_t));
  return {hash.low64, hash.high64};
}

Datatype finish(Node&& node) {
  node.digest = digest_of(node);
  return Datatype(std::make_shared<const Node>(std::move(node)));
}

/// Adds `count` copies of `inner`, an extent apart, from `displacement` bytes on.
void add_block(Node& node, const Datatype& inner, std::int64_t count, std::int64_t displacement) {
  if (count == 0) return;
  const std::int64_t bytes = checked_multiply(count, inner.size(), size_of_type);
  node.size = checked_add(node.size, bytes, size_of_type);
  widen(node.bounds, repeat(inner.node().bounds, count, inner.extent(), displacement));
  node.alignment = std::max(node.alignment, inner.alignment());
  node.sequence = concatenated(node.sequence, repeated(inner.node().sequence, count));
}

Datatype regular(Combiner combiner, std::int64_t count, std::int64_t block_length, std::int64_t stride,
                 std::int64_t stride_bytes, const Datatype& inner) {
  Node node = start(combiner, {&inner, 1});
  node.count = count;
  node.block_length = block_length;
  node.stride = stride;
  node.displacement_unit = combiner == Combiner::vector ? inner.extent() : 1;
  if (count == 0 || block_length == 0) return finish(std::move(node));
  node.size =
      checked_multiply(checked_multiply(count, block_length, size_of_type), inner.size(), size_of_type);
  node.sequence = repeated(inner.node().sequence, count * block_length);
  const Bounds block = repeat(inner.node().bounds, block_length, inner.extent(), 0);
  node.bounds = repeat(block, count, stride_bytes, 0);
  node.alignment = inner.alignment();
  return finish(std::move(node));
}

Datatype listed(Combiner combiner, const char* constructor, std::int64_t block_length,
                std::span<const std::int64_t> block_lengths, std::span<const std::int64_t> displacements,
                std::int64_t unit, const Datatype& inner) {
  Node node = start(combiner, {&inner, 1});
  node.block_length = block_length;
  node.block_lengths.assign(block_lengths.begin(), block_lengths.end());
  node.displacements.assign(displacements.begin(), displacements.end());
  node.displacement_unit = unit;
  for (std::size_t i = 0; i < displacements.size(); ++i) {
    const std::int64_t length = not_negative(node.length(i), constructor, "a block length");
    if (length == 0) continue;
    add_block(node, inner, length, checked_multiply(displacements[i], unit, displacement_of_type));
  }
  return finish(std::move(node));
}

Datatype make_basic(Basic basic) {
  const BasicType& type = basic_type(basic);
  Node node;
  node.basic = basic;
  node.size = type.size();
  node.bounds = {.lower = 0,
                 .upper = type.extent,
                 .true_lower = 0,
                 .true_upper = type.true_extent(),
                 .bounded = true,
                 .marked = false,
                 .data = true};
  node.alignment = type.alignment;
  for (int i = 0; i < type.members; ++i)
    node.sequence =
        concatenated(node.sequence, ElementSequence::of(type.member[static_cast<std::size_t>(i)].element));
  return finish(std::move(node));
}

}  // namespace

Datatype Datatype::basic(Basic basic) {
  static const std::vector<Datatype> types = [] {
    std::vector<Datatype> all;
    for (std::size_t i = 0; i < basic_count; ++i) all.push_back(make_basic(static_cast<Basic>(i)));
    return all;
  }();
  return types.at(static_cast<std::size_t>(basic));
}

Datatype Datatype::contiguous(std::int64_t count, const Datatype& inner) {
  not_negative(count, "contiguous", "count");
  return regular(Combiner::contiguous, count, 1, 0, inner.extent(), inner);
}

Datatype Datatype::vector(std::int64_t count, std::int64_t block_length, std::int64_t stride,
                          const Datatype& inner) {
  not_negative(count, "vector", "count");
  not_negative(block_length, "vector", "block length");
  const bool steps = count > 1 && block_length > 0;
  const std::int64_t bytes = steps ? checked_multiply(stride, inner.extent(), "vector: stride in bytes") : 0;
  return regular(Combiner::vector, count, block_length, stride, bytes, inner);
}

Datatype Datatype::hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                           const Datatype& inner) {
  not_negative(count, "hvector", "count");
  not_negative(block_length, "hvector", "block length");
  return regular(Combiner::hvector, count, block_length, stride_bytes, stride_bytes, inner);
}

Datatype Datatype::indexed(std::span<const std::int64_t> block_lengths,
                           std::span<const std::int64_t> displacements, const Datatype& inner) {
  equal_length(block_lengths.size(), displacements.size(), "indexed", "block lengths", "displacements");
  return listed(Combiner::indexed, "indexed", 0, block_lengths, displacements, inner.extent(), inner);
}

Datatype Datatype::hindexed(std::span<const std::int64_t> block_lengths,
                            std::span<const std::int64_t> displacements_bytes, const Datatype& inner) {
  equal_length(block_lengths.size(), displacements_bytes.size(), "hindexed", "block lengths",
               "displacements");
  return listed(Combiner::hindexed, "hindexed", 0, block_lengths, displacements_bytes, 1, inner);
}

Datatype Datatype::indexed_block(std::int64_t block_length, std::span<const std::int64_t> displacements,
                                 const Datatype& inner) {
  not_negative(block_length, "indexed_block", "block length");
  return listed(Combiner::indexed_block, "indexed_block", block_length, {}, displacements, inner.extent(),
                inner);
}

Datatype Datatype::hindexed_block(std::int64_t block_length,
                                  std::span<const std::int64_t> displacements_bytes, const Datatype& inner) {
  not_negative(block_length, "hindexed_block", "block length");
  return listed(Combiner::hindexed_block, "hindexed_block", block_length, {}, displacements_bytes, 1, inner);
}

Datatype Datatype::struct_(std::span<const std::int64_t> block_lengths,
                           std::span<const std::int64_t> displacements_bytes,
                           std::span<const Datatype> members) {
  equal_length(block_lengths.size(), displacements_bytes.size(), "struct", "block lengths", "displacements");
  equal_length(block_lengths.size(), members.size(), "struct", "block lengths", "members");
  Node node = start(Combiner::struct_, members);
  node.block_lengths.assign(block_lengths.begin(), block_lengths.end());
  node.displacements.assign(displacements_bytes.begin(), displacements_bytes.end());
  for (std::size_t i = 0; i < members.size(); ++i) {
    not_negative(block_lengths[i], "struct", "a block length");
    add_block(node, members[i], block_lengths[i], displacements_bytes[i]);
  }
  if (node.bounds.bounded && !node.bounds.marked) {
    const std::int64_t beyond = node.extent() % node.alignment;
    if (beyond > 0)
      node.bounds.upper =
          checked_add(node.bounds.upper, node.alignment - beyond, "struct: the padded extent");
    static_cast<void>(checked_subtract(node.bounds.upper, node.bounds.lower, "struct: the padded extent"));
  }
  return finish(std::move(node));
}

Datatype Datatype::resized(std::int64_t lower_bound, std::int64_t extent, const Datatype& inner) {
  Node node = start(Combiner::resized, {&inner, 1});
  node.size = inner.size();
  node.sequence = inner.node().sequence;
  node.alignment = inner.alignment();
  node.bounds = inner.node().bounds;
  node.bounds.lower = lower_bound;
  node.bounds.upper = checked_add(lower_bound, extent, "resized: lower bound + extent");
  node.bounds.bounded = true;
  node.bounds.marked = true;
  return finish(std::move(node));
}

Datatype Datatype::dup(const Datatype& inner) {
  Node node = start(Combiner::dup, {&inner, 1});
  node.size = inner.size();
  node.sequence = inner.node().sequence;
  node.alignment = inner.alignment();
  node.bounds = inner.node().bounds;
  return finish(std::move(node));
}

Datatype Datatype::subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                            std::span<const std::int64_t> starts, Order order, const Datatype& inner) {
  equal_length(sizes.size(), subsizes.size(), "subarray", "sizes", "subsizes");
  equal_length(sizes.size(), starts.size(), "subarray", "sizes", "starts");
  Node node = start(Combiner::subarray, {&inner, 1});
  node.sizes.assign(sizes.begin(), sizes.end());
  node.subsizes.assign(subsizes.begin(), subsizes.end());
  node.starts.assign(starts.begin(), starts.end());
  node.order = order;
  const Datatype lowered = lower_subarray(node, inner);
  node.size = lowered.size();
  node.sequence = lowered.node().sequence;
  node.bounds = lowered.node().bounds;
  node.alignment = lowered.alignment();
  node.lowered.push_back(lowered);
  return finish(std::move(node));
}

Datatype Datatype::darray(std::int64_t size, std::int64_t rank, std::span<const std::int64_t> gsizes,
                          std::span<const Distribution> distributions,
                          std::span<const std::int64_t> arguments, std::span<const std::int64_t> psizes,
                          Order order, const Datatype& inner) {
  equal_length(gsizes.size(), distributions.size(), "darray", "gsizes", "distributions");
  equal_length(gsizes.size(), arguments.size(), "darray", "gsizes", "arguments");
  equal_length(gsizes.size(), psizes.size(), "darray", "gsizes", "psizes");
  Node node = start(Combiner::darray, {&inner, 1});
  node.processes = size;
  node.rank = rank;
  node.sizes.assign(gsizes.begin(), gsizes.end());
  node.distributions.assign(distributions.begin(), distributions.end());
  node.arguments.assign(arguments.begin(), arguments.end());
  node.psizes.assign(psizes.begin(), psizes.end());
  node.order = order;
  const Datatype lowered = lower_darray(node, inner);
  node.size = lowered.size();
  node.sequence = lowered.node().sequence;
  node.bounds = lowered.node().bounds;
  node.alignment = lowered.alignment();
  node.lowered.push_back(lowered);
  return finish(std::move(node));
}

std::int64_t Datatype::size() const noexcept {
  return node_->size;
}
std::int64_t Datatype::lower_bound() const noexcept {
  return node_->bounds.lower;
}
std::int64_t Datatype::upper_bound() const noexcept {
  return node_->bounds.upper;
}
std::int64_t Datatype::extent() const noexcept {
  return node_->extent();
}
std::int64_t Datatype::true_lower_bound() const noexcept {
  return node_->bounds.true_lower;
}
std::int64_t Datatype::true_extent() const noexcept {
  return node_->bounds.true_upper - node_->bounds.true_lower;
}
std::int64_t Datatype::alignment() const noexcept {
  return node_->alignment;
}
Combiner Datatype::combiner() const noexcept {
  return node_->combiner;
}

}  // namespace lath
