#include "datatypes/signature.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "datatypes/type_spec.hpp"
#include "tests/datatypes/random_type.hpp"

namespace lath {
namespace {

Signature signature_of(const char* text, std::int64_t count = 1) {
  return signature(parse_type(text), count);
}

TEST(Signature, DependsOnTheSequenceOfBasicTypesOnly) {
  EXPECT_EQ(signature_of("vector(20,2,7,double)"), signature_of("double", 40));
  EXPECT_EQ(signature_of("struct([1,2],[0,8],[int,double])", 3),
            signature_of("contiguous(3,struct([1,1,1],[80,8,0],[int,double,double]))"));
  EXPECT_EQ(signature_of("double_int"), signature_of("struct([1,1],[0,8],[double,int])"));
  EXPECT_EQ(signature_of("subarray([4,4],[2,2],[0,0],c,float)"), signature_of("float", 4));
  EXPECT_EQ(signature_of("contiguous(0,int)", 5), signature_of("struct([],[],[])"));
  EXPECT_NE(signature_of("struct([1,1],[0,8],[int,double])"),
            signature_of("struct([1,1],[8,0],[double,int])"));
  EXPECT_NE(signature_of("int", 2), signature_of("int", 3));
  EXPECT_NE(signature_of("int"), signature_of("float"));
  EXPECT_NE(signature_of("struct([2,1],[0,8],[int,double])"),
            signature_of("struct([1,2],[0,8],[int,double])"));
}

TEST(Signature, CountsWithoutWalking) {
  EXPECT_EQ(signature_of("vector(1000000000,3,5,int)", 2).elements, 6000000000);
  EXPECT_EQ(signature_of("int", 6000000000), signature_of("vector(1000000000,3,5,int)", 2));
  EXPECT_THROW(signature_of("double", INT64_MAX), Error);
  EXPECT_THROW(signature_of("double", -1), Error);
}

TEST(Signature, CopiesEqualContiguousOnRandomTypes) {
  RandomType random(11);
  for (int i = 0; i < 2000; ++i) {
    const Datatype type = random.next();
    const std::int64_t count = random.between(0, 9);
    EXPECT_EQ(signature(type, count), signature(Datatype::contiguous(count, type), 1));
    const std::int64_t lengths[] = {1, count};
    const std::int64_t displacements[] = {0, 0};
    EXPECT_EQ(signature(type, count + 1), signature(Datatype::indexed(lengths, displacements, type), 1));
  }
}

TEST(Signature, BL18_ElementsOfAPartialReceive) {
  const Datatype type = parse_type("struct([1,1],[0,8],[int,double])");
  EXPECT_EQ(elements_in(type, 3, 28), 5);
  EXPECT_EQ(elements_in(type, 3, 36), 6);
  EXPECT_EQ(elements_in(type, 3, 24), 4);
  EXPECT_EQ(elements_in(type, 3, 27), -1);
  EXPECT_EQ(elements_in(type, 3, 30), -1);
  EXPECT_EQ(elements_in(type, 3, 0), 0);
  EXPECT_EQ(elements_in(parse_type("double_int"), 2, 20), 3);
  EXPECT_EQ(elements_in(parse_type("double_int"), 2, 22), -1);
}

/// The lengths of the basic elements in order, by asking for every number of bytes.
TEST(Signature, ElementsInAgreesWithEveryPrefixOfRandomTypes) {
  RandomType random(12);
  for (int i = 0; i < 1500; ++i) {
    const Datatype type = random.next();
    const std::int64_t count = random.between(0, 3);
    const std::int64_t total = type.size() * count;
    std::int64_t elements = 0;
    std::int64_t since = 0;
    for (std::int64_t bytes = 1; bytes <= total; ++bytes) {
      const std::int64_t now = elements_in(type, count, bytes);
      ++since;
      if (now == -1) continue;
      ASSERT_EQ(now, elements + 1) << to_text(type);
      ASSERT_LE(since, 16);
      elements = now;
      since = 0;
    }
    ASSERT_EQ(since, 0);
    ASSERT_EQ(elements, signature(type, count).elements) << to_text(type);
  }
}

}  // namespace
}  // namespace lath
