#include <fmt/format.h>

#include <iterator>

#include "base/error.hpp"
#include "datatypes/node.hpp"
#include "datatypes/type_spec.hpp"

namespace lath {
namespace {

/// A type whose text is longer (only one that shares its parts very often) is refused.
constexpr std::size_t longest_text = std::size_t{1} << 30;

class Printer {
 public:
  std::string take() { return std::move(text_); }

  void type(const Datatype& type) {
    const Datatype::Node& node = type.node();
    if (text_.size() > longest_text) throw Error(Code::not_supported, "a type-spec longer than 1 GiB");
    switch (node.combiner) {
      case Combiner::named:
        text_ += name(node.basic);
        return;
      case Combiner::contiguous:
        return write("contiguous({},", node.count), last(node);
      case Combiner::vector:
        return write("vector({},{},{},", node.count, node.block_length, node.stride), last(node);
      case Combiner::hvector:
        return write("hvector({},{},{},", node.count, node.block_length, node.stride), last(node);
      case Combiner::indexed:
        return blocks("indexed(", node);
      case Combiner::hindexed:
        return blocks("hindexed(", node);
      case Combiner::indexed_block:
        return write("indexed_block({},", node.block_length), list(node.displacements), last(node);
      case Combiner::hindexed_block:
        return write("hindexed_block({},", node.block_length), list(node.displacements), last(node);
      case Combiner::struct_:
        return structure(node);
      case Combiner::subarray:
        return subarray(node);
      case Combiner::darray:
        return darray(node);
      case Combiner::resized:
        return write("resized({},{},", node.bounds.lower, node.extent()), last(node);
      case Combiner::dup:
        text_ += "dup(";
        return last(node);
    }
  }

 private:
  template <class... Values>
  void write(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  template <class Items, class Item>
  void list(const Items& items, Item&& item) {
    text_ += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ',';
      item(items[i]);
    }
    text_ += "],";
  }
  void list(const std::vector<std::int64_t>& numbers) {
    list(numbers, [this](std::int64_t number) { write("{}", number); });
  }

  void last(const Datatype::Node& node) {
    type(node.inner[0]);
    text_ += ')';
  }

  void blocks(std::string_view constructor, const Datatype::Node& node) {
    text_ += constructor;
    list(node.block_lengths);
    list(node.displacements);
    last(node);
  }

  void structure(const Datatype::Node& node) {
    text_ += "struct(";
    list(node.block_lengths);
    list(node.displacements);
    list(node.inner, [this](const Datatype& member) { type(member); });
    text_.back() = ')';
  }

  void order(Order order) { text_ += order == Order::c ? "c," : "fortran,"; }

  void subarray(const Datatype::Node& node) {
    text_ += "subarray(";
    list(node.sizes);
    list(node.subsizes);
    list(node.starts);
    order(node.order);
    last(node);
  }

  void darray(const Datatype::Node& node) {
    write("darray({},{},", node.processes, node.rank);
    list(node.sizes);
    list(node.distributions, [this](Distribution distribution) {
      text_ += distribution == Distribution::block    ? "block"
               : distribution == Distribution::cyclic ? "cyclic"
                                                      : "none";
    });
    list(node.arguments, [this](std::int64_t argument) {
      if (argument == default_distribution)
        text_ += "default";
      else
        write("{}", argument);
    });
    list(node.psizes);
    order(node.order);
    last(node);
  }

  std::string text_;
};

}  // namespace

std::string to_text(const Datatype& type) {
  Printer printer;
  printer.type(type);
  return printer.take();
}

}  // namespace lath
