#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.hpp"
#include "datatypes/type_spec.hpp"

namespace lath {
namespace {

constexpr int deepest_nesting = 64;

using Numbers = std::vector<std::int64_t>;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Recursive descent over the grammar of docs/type-spec.md.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Datatype all() {
    Datatype result = type();
    skip_spaces();
    if (at_ < text_.size()) fail("the end of the text");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    std::string found = "the end";
    if (at_ < text_.size()) {
      std::size_t end = at_ + 1;
      while (end < text_.size() && end - at_ < 24 && is_word(text_[at_]) && is_word(text_[end])) ++end;
      found.clear();
      for (const char c : text_.substr(at_, end - at_))
        found += c >= ' ' && c <= '~' ? std::string(1, c)
                                      : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      found = "'" + found + "'";
    }
    throw Error(Code::parse,
                fmt::format("type-spec, column {}: expected {}, found {}", at_ + 1, expected, found));
  }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }

  std::string_view word() {
    skip_spaces();
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  std::int64_t number() {
    skip_spaces();
    std::size_t end = at_;
    const bool negative = end < text_.size() && text_[end] == '-';
    if (negative) ++end;
    const std::size_t digits = end;
    std::int64_t value = 0;
    for (; end < text_.size() && is_digit(text_[end]); ++end) {
      const std::int64_t digit = text_[end] - '0';
      if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
          __builtin_add_overflow(value, negative ? -digit : digit, &value))
        fail("a number of 64 bits");
    }
    if (end == digits || (end < text_.size() && is_word(text_[end]))) fail("a number");
    at_ = end;
    return value;
  }

  template <class Item>
  auto list(Item&& item) {
    std::vector<decltype(item())> items;
    expect('[');
    if (take(']')) return items;
    do items.push_back(item());
    while (take(','));
    if (!take(']')) fail("',' or ']'");
    return items;
  }

  Numbers numbers() {
    return list([this] { return number(); });
  }

  std::int64_t number_and_comma() {
    const std::int64_t value = number();
    expect(',');
    return value;
  }

  Numbers numbers_and_comma() {
    Numbers values = numbers();
    expect(',');
    return values;
  }

  Order order_and_comma() {
    const std::string_view text = word();
    if (text != "c" && text != "fortran") fail("'c' or 'fortran'");
    at_ += text.size();
    expect(',');
    return text == "c" ? Order::c : Order::fortran;
  }

  Distribution distribution() {
    const std::string_view text = word();
    for (const auto& [spelled, value] : {std::pair("block", Distribution::block),
                                         {"cyclic", Distribution::cyclic},
                                         {"none", Distribution::none}})
      if (text == spelled) {
        at_ += text.size();
        return value;
      }
    fail("'block', 'cyclic' or 'none'");
  }

  std::int64_t distribution_argument() {
    if (word() != "default") return number();
    at_ += 7;
    return default_distribution;
  }

  Datatype type() {
    if (++depth_ > deepest_nesting) fail(fmt::format("no more than {} levels of nesting", deepest_nesting));
    const std::string_view text = word();
    for (std::size_t i = 0; i < basic_count; ++i) {
      if (text != name(static_cast<Basic>(i))) continue;
      at_ += text.size();
      --depth_;
      return Datatype::basic(static_cast<Basic>(i));
    }
    const std::size_t start = at_;
    at_ += text.size();
    using Constructor = Datatype (Parser::*)();
    static constexpr std::pair<std::string_view, Constructor> constructors[] = {
        {"contiguous", &Parser::contiguous},
        {"vector", &Parser::vector},
        {"hvector", &Parser::hvector},
        {"indexed", &Parser::indexed},
        {"hindexed", &Parser::hindexed},
        {"indexed_block", &Parser::indexed_block},
        {"hindexed_block", &Parser::hindexed_block},
        {"struct", &Parser::structure},
        {"subarray", &Parser::subarray},
        {"darray", &Parser::darray},
        {"resized", &Parser::resized},
        {"dup", &Parser::dup},
    };
    for (const auto& [spelled, constructor] : constructors) {
      if (text != spelled) continue;
      expect('(');
      Datatype result = (this->*constructor)();
      --depth_;
      return result;
    }
    at_ = start;
    fail("a type");
  }

  /// The last argument of nearly every constructor.
  Datatype inner() {
    Datatype result = type();
    expect(')');
    return result;
  }

  Datatype contiguous() {
    const std::int64_t count = number_and_comma();
    return Datatype::contiguous(count, inner());
  }
  Datatype vector() {
    const std::int64_t count = number_and_comma();
    const std::int64_t length = number_and_comma();
    const std::int64_t stride = number_and_comma();
    return Datatype::vector(count, length, stride, inner());
  }
  Datatype hvector() {
    const std::int64_t count = number_and_comma();
    const std::int64_t length = number_and_comma();
    const std::int64_t stride = number_and_comma();
    return Datatype::hvector(count, length, stride, inner());
  }
  Datatype indexed() {
    const Numbers lengths = numbers_and_comma();
    const Numbers displacements = numbers_and_comma();
    return Datatype::indexed(lengths, displacements, inner());
  }
  Datatype hindexed() {
    const Numbers lengths = numbers_and_comma();
    const Numbers displacements = numbers_and_comma();
    return Datatype::hindexed(lengths, displacements, inner());
  }
  Datatype indexed_block() {
    const std::int64_t length = number_and_comma();
    const Numbers displacements = numbers_and_comma();
    return Datatype::indexed_block(length, displacements, inner());
  }
  Datatype hindexed_block() {
    const std::int64_t length = number_and_comma();
    const Numbers displacements = numbers_and_comma();
    return Datatype::hindexed_block(length, displacements, inner());
  }
  Datatype structure() {
    const Numbers lengths = numbers_and_comma();
    const Numbers displacements = numbers_and_comma();
    const std::vector<Datatype> members = list([this] { return type(); });
    expect(')');
    return Datatype::struct_(lengths, displacements, members);
  }
  Datatype subarray() {
    const Numbers sizes = numbers_and_comma();
    const Numbers subsizes = numbers_and_comma();
    const Numbers starts = numbers_and_comma();
    const Order order = order_and_comma();
    return Datatype::subarray(sizes, subsizes, starts, order, inner());
  }
  Datatype darray() {
    const std::int64_t size = number_and_comma();
    const std::int64_t rank = number_and_comma();
    const Numbers gsizes = numbers_and_comma();
    const std::vector<Distribution> distributions = list([this] { return distribution(); });
    expect(',');
    const Numbers arguments = list([this] { return distribution_argument(); });
    expect(',');
    const Numbers psizes = numbers_and_comma();
    const Order order = order_and_comma();
    return Datatype::darray(size, rank, gsizes, distributions, arguments, psizes, order, inner());
  }
  Datatype resized() {
    const std::int64_t lower_bound = number_and_comma();
    const std::int64_t extent = number_and_comma();
    return Datatype::resized(lower_bound, extent, inner());
  }
  Datatype dup() { return Datatype::dup(inner()); }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Datatype parse_type(std::string_view text) {
  return Parser(text).all();
}

}  // namespace lath
