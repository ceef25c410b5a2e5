#include "datatypes/type_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/datatypes/random_type.hpp"

namespace lath {
namespace {

std::string parse_error(const std::string& text) {
  try {
    parse_type(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.lath_code(), Code::parse);
    return error.what();
  }
  return "no error";
}

TEST(TypeSpec, EveryConstructorComesBack) {
  std::vector<std::string> texts = {"vector(600,400,40000,double)",
                                    "hvector(3,2,-64,int)",
                                    "indexed([2,1],[0,4],int)",
                                    "hindexed([2,1],[0,-4],int)",
                                    "indexed_block(2,[0,21],double)",
                                    "hindexed_block(2,[],double)",
                                    "struct([1,1],[0,8],[int,double])",
                                    "struct([],[],[])",
                                    "subarray([4,3,2],[2,2,1],[1,1,1],c,int)",
                                    "subarray([4],[2],[1],fortran,int)",
                                    "darray(4,0,[6,4],[cyclic,block],[2,default],[2,2],c,int)",
                                    "darray(2,1,[6,4],[none,block],[default,2],[1,2],fortran,int)",
                                    "resized(-8,20,int)",
                                    "contiguous(3,dup(short_int))",
                                    "resized(-9223372036854775808,5,byte)"};
  for (std::size_t i = 0; i < basic_count; ++i) texts.emplace_back(name(static_cast<Basic>(i)));
  for (const std::string& text : texts) EXPECT_EQ(to_text(parse_type(text)), text);
}

TEST(TypeSpec, SpacesMayStandBetweenTokens) {
  EXPECT_EQ(to_text(parse_type("  struct ( [ 1 , 1 ] , [ 0,8 ],\n[ int , vector(2 ,1,\t-3,double) ] ) ")),
            "struct([1,1],[0,8],[int,vector(2,1,-3,double)])");
}

TEST(TypeSpec, ErrorsNameColumnAndExpectation) {
  using testing::HasSubstr;
  EXPECT_THAT(parse_error(""), HasSubstr("column 1: expected a type, found the end"));
  EXPECT_THAT(parse_error("integer"), HasSubstr("column 1: expected a type, found 'integer'"));
  EXPECT_THAT(parse_error("vector(3,2,4,)"), HasSubstr("column 14: expected a type, found ')'"));
  EXPECT_THAT(parse_error("vector(3,2,int)"), HasSubstr("column 12: expected a number, found 'int'"));
  EXPECT_THAT(parse_error("vector(3,2,4 int)"), HasSubstr("column 14: expected ',', found 'int'"));
  EXPECT_THAT(parse_error("vector(3,2,4,int"), HasSubstr("column 17: expected ')', found the end"));
  EXPECT_THAT(parse_error("int int"), HasSubstr("column 5: expected the end of the text, found 'int'"));
  EXPECT_THAT(parse_error("indexed(2,[1],int)"), HasSubstr("column 9: expected '[', found '2'"));
  EXPECT_THAT(parse_error("indexed([1 2],[1],int)"), HasSubstr("column 12: expected ',' or ']', found '2'"));
  EXPECT_THAT(parse_error("contiguous(99999999999999999999,int)"),
              HasSubstr("column 12: expected a number of 64 bits"));
  EXPECT_THAT(parse_error("contiguous(3x,int)"), HasSubstr("column 12: expected a number"));
  EXPECT_THAT(parse_error("contiguous(-,int)"), HasSubstr("column 12: expected a number"));
  EXPECT_THAT(parse_error("subarray([4],[2],[1],row,int)"),
              HasSubstr("column 22: expected 'c' or 'fortran', found 'row'"));
  EXPECT_THAT(parse_error("darray(1,0,[4],[blocked],[1],[1],c,int)"),
              HasSubstr("column 17: expected 'block', 'cyclic' or 'none'"));
  EXPECT_THAT(parse_error("int\x01"), HasSubstr("found '\\x01'"));
}

TEST(TypeSpec, NestingIsLimited) {
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 1; i < levels; ++i) text += "dup(";
    return text + "int" + std::string(static_cast<std::size_t>(levels - 1), ')');
  };
  EXPECT_EQ(parse_type(nested(64)).size(), 4);
  EXPECT_THAT(parse_error(nested(65)), testing::HasSubstr("column 257: expected no more than 64 levels"));
  EXPECT_THAT(parse_error(nested(1000000)), testing::HasSubstr("column 257"));
}

std::string mutated(std::string text, RandomType& random) {
  static const std::string characters = "()[],-0123456789 abcdefghijklmnopqrstuvwxyz_\xff";
  for (std::int64_t changes = random.between(1, 3); changes > 0 && !text.empty(); --changes) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size())));
    const char c =
        characters[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(characters.size())))];
    switch (random.below(4)) {
      case 0:
        text.erase(at, static_cast<std::size_t>(random.between(1, 3)));
        break;
      case 1:
        text.insert(at, 1, c);
        break;
      case 2:
        text[at] = c;
        break;
      default:
        text.insert(
            at,
            text.substr(static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size()))), 8));
    }
  }
  return text;
}

TEST(TypeSpec, MutatedTextIsReadOrRefused) {
  RandomType random(5);
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::string text = mutated(to_text(random.next()), random);
    try {
      const Datatype type = parse_type(text);
      ++read;
      ASSERT_EQ(to_text(parse_type(to_text(type))), to_text(type)) << text;
    } catch (const Error& error) {
      ++refused;
      ASSERT_TRUE(error.lath_code() == Code::parse || error.lath_code() == Code::invalid_argument)
          << error.what();
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace lath
