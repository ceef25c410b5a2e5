#include "datatypes/lowering.hpp"

#include <map>
#include <set>
#include <unordered_map>

#include "datatypes/basic_type.hpp"
#include "datatypes/checked.hpp"
#include "datatypes/layout_builder.hpp"
#include "datatypes/node.hpp"

namespace lath {
namespace {

using Node = Datatype::Node;
constexpr const char* displacement_of_type = "a datatype's displacement";

class Lowering {
 public:
  /// Writes `count` elements of `type` to the builder.
  void copies(const Datatype& type, std::int64_t count, std::int64_t offset, LayoutBuilder& builder) {
    if (count == 0 || type.size() == 0) return;
    if (count == 1) return one(type, offset, builder);
    place(repeat(splits, form_of(type), count, type.extent()), offset, builder);
  }

  SplitCache splits;

 private:
  static void place(const PlacedForm& part, std::int64_t offset, LayoutBuilder& builder) {
    builder.append(PlacedForm{checked_add(part.offset, offset, displacement_of_type), part.form});
  }

  /// The first use of a type is written straight into its surroundings; later ones share a form.
  void one(const Datatype& type, std::int64_t offset, LayoutBuilder& builder) {
    if (type.combiner() == Combiner::named) return named(type.node().basic, offset, builder);
    if (visited_.insert(type.node().digest).second) return write(type.node(), offset, builder);
    place(form_of(type), offset, builder);
  }

  static void named(Basic basic, std::int64_t offset, LayoutBuilder& builder) {
    const BasicType& type = basic_type(basic);
    for (int i = 0; i < type.members; ++i) {
      const BasicMember& member = type.member[static_cast<std::size_t>(i)];
      builder.append(LayoutSegment{checked_add(offset, member.offset, displacement_of_type), member.length});
    }
  }

  const PlacedForm& form_of(const Datatype& type) {
    const auto found = forms_.find(type.node().digest);
    if (found != forms_.end()) return found->second;
    LayoutBuilder builder(splits);
    if (type.combiner() == Combiner::named)
      named(type.node().basic, 0, builder);
    else
      write(type.node(), 0, builder);
    return forms_.emplace(type.node().digest, builder.finish()).first->second;
  }

  void write(const Node& node, std::int64_t offset, LayoutBuilder& builder) {
    switch (node.combiner) {
      case Combiner::named:
        return named(node.basic, offset, builder);
      case Combiner::contiguous:
        return copies(node.inner[0], node.count, offset, builder);
      case Combiner::vector:
      case Combiner::hvector:
        return strided(node, offset, builder);
      case Combiner::indexed:
      case Combiner::hindexed:
      case Combiner::indexed_block:
      case Combiner::hindexed_block:
        return listed(node, offset, builder);
      case Combiner::struct_:
        for (std::size_t i = 0; i < node.inner.size(); ++i)
          if (node.inner[i].size() > 0 && node.block_lengths[i] > 0)
            copies(node.inner[i], node.block_lengths[i],
                   checked_add(offset, node.displacements[i], displacement_of_type), builder);
        return;
      case Combiner::subarray:
      case Combiner::darray:
        return copies(node.lowered[0], 1, offset, builder);
      case Combiner::resized:
      case Combiner::dup:
        return copies(node.inner[0], 1, offset, builder);
    }
  }

  void strided(const Node& node, std::int64_t offset, LayoutBuilder& builder) {
    const Datatype& inner = node.inner[0];
    if (node.size == 0) return;
    if (node.count == 1) return copies(inner, node.block_length, offset, builder);
    const PlacedForm block = repeat(splits, form_of(inner), node.block_length, inner.extent());
    place(repeat(splits, block, node.count, node.stride * node.displacement_unit), offset, builder);
  }

  void listed(const Node& node, std::int64_t offset, LayoutBuilder& builder) {
    if (node.size == 0) return;
    const Datatype& inner = node.inner[0];
    if (node.displacements.size() == 1)
      return copies(inner, node.length(0), checked_add(offset, node.displacement(0), displacement_of_type),
                    builder);
    const PlacedForm element = form_of(inner);
    std::unordered_map<std::int64_t, PlacedForm> blocks;  // by block length
    const bool contiguous = element.form->bytes == inner.extent() && element.form->segments == 1;
    for (std::size_t i = 0; i < node.displacements.size(); ++i) {
      const std::int64_t length = node.length(i);
      if (length == 0) continue;
      const std::int64_t at = checked_add(offset, node.displacement(i), displacement_of_type);
      if (contiguous) {
        const std::int64_t first = checked_add(at, element.offset, displacement_of_type);
        builder.append(LayoutSegment{first, length * element.form->bytes});
        continue;
      }
      PlacedForm& block = blocks[length];
      if (!block.form) block = repeat(splits, element, length, inner.extent());
      place(block, at, builder);
    }
  }

  // By content, so that types that are equal but not shared give the same form.
  std::map<LayoutHash, PlacedForm> forms_;
  std::set<LayoutHash> visited_;
};

}  // namespace

PlacedForm lower(const Datatype& type, std::int64_t count) {
  Lowering lowering;
  LayoutBuilder builder(lowering.splits);
  lowering.copies(type, count, 0, builder);
  return builder.finish();
}

}  // namespace lath
