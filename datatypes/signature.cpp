#include "datatypes/signature.hpp"

#include <fmt/format.h>

#include "datatypes/basic_type.hpp"
#include "datatypes/checked.hpp"
#include "datatypes/node.hpp"

namespace lath {
namespace {

std::int64_t packed_bytes(const Datatype& type, std::int64_t count) {
  if (count < 0)
    throw Error(Code::invalid_argument, fmt::format("signature: count is {}, must not be negative", count));
  return checked_multiply(type.size(), count, "count times a datatype's size");
}

/// One step into a type whose packed bytes are cut: what is whole is counted, what is cut is left.
struct Rest {
  const Datatype* type = nullptr;
  std::int64_t bytes = 0;
  std::int64_t elements = 0;  ///< whole ones passed
};

/// `bytes` of a run of copies of `type`.
void enter(Rest& rest, const Datatype& type) {
  rest.type = &type;
  if (rest.bytes == 0) return;
  rest.elements += rest.bytes / type.size() * type.node().sequence.elements;
  rest.bytes %= type.size();
}

void enter_struct(Rest& rest, const Datatype::Node& node) {
  for (std::size_t i = 0; i < node.inner.size(); ++i) {
    const Datatype& member = node.inner[i];
    const std::int64_t bytes = node.block_lengths[i] * member.size();
    if (rest.bytes < bytes) return enter(rest, member);
    rest.bytes -= bytes;
    rest.elements += node.block_lengths[i] * member.node().sequence.elements;
  }
}

std::int64_t of_basic(const Rest& rest) {
  const BasicType& type = basic_type(rest.type->node().basic);
  return type.members == 2 && rest.bytes == type.member[0].length ? rest.elements + 1 : -1;
}

}  // namespace

Signature signature(const Datatype& type, std::int64_t count) {
  static_cast<void>(packed_bytes(type, count));
  const ElementSequence sequence = repeated(type.node().sequence, count);
  return {sequence.elements, sequence.hash};
}

std::int64_t elements_in(const Datatype& type, std::int64_t count, std::int64_t bytes) {
  const std::int64_t total = packed_bytes(type, count);
  if (bytes >= total) return type.node().sequence.elements * count;
  Rest rest{.type = &type, .bytes = bytes < 0 ? 0 : bytes};
  enter(rest, type);
  while (rest.bytes > 0) {
    const Datatype::Node& node = rest.type->node();
    if (node.combiner == Combiner::named) return of_basic(rest);
    if (node.combiner == Combiner::struct_)
      enter_struct(rest, node);
    else
      enter(rest, node.lowered.empty() ? node.inner[0] : node.lowered[0]);
  }
  return rest.elements;
}

}  // namespace lath
