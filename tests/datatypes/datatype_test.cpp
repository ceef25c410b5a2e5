#include "datatypes/datatype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "datatypes/layout.hpp"
#include "datatypes/type_spec.hpp"

namespace lath {
namespace {

/// size, lower bound, extent, true lower bound, true extent
using Figures = std::vector<std::int64_t>;

Figures figures(const char* text) {
  const Datatype type = parse_type(text);
  EXPECT_EQ(type.upper_bound(), type.lower_bound() + type.extent());
  return {type.size(), type.lower_bound(), type.extent(), type.true_lower_bound(), type.true_extent()};
}

std::string error_of(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.lath_code(), Code::invalid_argument);
    return error.what();
  }
  return "no error";
}
std::string refusal(const char* text) {
  return error_of([&] { parse_type(text); });
}

TEST(Datatype, BL02_ExtentNeedNotBeAMultipleOfTheAlignment) {
  EXPECT_EQ(figures("contiguous(1,resized(0,6,int))"), (Figures{4, 0, 6, 0, 4}));
  EXPECT_EQ(figures("contiguous(3,resized(0,6,int))"), (Figures{12, 0, 18, 0, 16}));
  EXPECT_EQ(figures("struct([1],[0],[resized(0,6,int)])"), (Figures{4, 0, 6, 0, 4}));
  EXPECT_EQ(Layout::of(parse_type("contiguous(3,resized(0,6,int))"), 1).alignment(), 2);
}

TEST(Datatype, BL03_EmptyTypesHaveNoBounds) {
  for (const char* text : {"indexed([0],[0],c_double_complex)", "hvector(0,3,64,int)", "hvector(3,0,64,int)",
                           "contiguous(0,char)", "struct([],[],[])", "struct([0],[8],[double])",
                           "indexed_block(0,[5,7],int)", "contiguous(5,contiguous(0,int))"})
    EXPECT_EQ(figures(text), (Figures{0, 0, 0, 0, 0})) << text;
  EXPECT_EQ(figures("struct([1,1],[40,8],[contiguous(0,int),int])"), (Figures{4, 8, 4, 8, 4}));
}

TEST(Datatype, BL04_MarkersWithoutDataKeepSizeZero) {
  // MPIs disagree on the bounds of these; only what holds no data is asserted.
  for (const char* text :
       {"contiguous(10,resized(-8,20,contiguous(0,int)))", "resized(3,9,struct([],[],[]))"}) {
    const Datatype type = parse_type(text);
    EXPECT_EQ(type.size(), 0);
    EXPECT_EQ(type.true_extent(), 0);
    EXPECT_EQ(Layout::of(type, 7).kind(), LayoutKind::empty);
  }
}

TEST(Datatype, BL06_NegativeStridesReachBelowTheBuffer) {
  EXPECT_EQ(figures("vector(64,1,-1,int)"), (Figures{256, -252, 256, -252, 256}));
}

TEST(Datatype, BL13_SubarraysHaveTheExtentOfTheWholeArray) {
  EXPECT_EQ(figures("subarray([4,3,2],[2,2,1],[1,1,1],fortran,int)"), (Figures{16, 0, 96, 68, 24}));
  EXPECT_EQ(figures("subarray([4,3,2],[2,2,1],[1,1,1],c,int)"), (Figures{16, 0, 96, 36, 36}));
}

TEST(Datatype, BL15_PairTypesHaveHolesThatAreNotData) {
  EXPECT_EQ(figures("short_int"), (Figures{6, 0, 8, 0, 8}));
  EXPECT_EQ(figures("double_int"), (Figures{12, 0, 16, 0, 12}));
  EXPECT_EQ(figures("long_int"), (Figures{12, 0, 16, 0, 12}));
  EXPECT_EQ(figures("float_int"), (Figures{8, 0, 8, 0, 8}));
  EXPECT_EQ(figures("2int"), (Figures{8, 0, 8, 0, 8}));
  EXPECT_EQ(figures("contiguous(4,short_int)"), (Figures{24, 0, 32, 0, 32}));
  EXPECT_EQ(figures("contiguous(2,double_int)"), (Figures{24, 0, 32, 0, 28}));
}

TEST(Datatype, BL16_CountsPast31BitsAreExact) {
  EXPECT_EQ(figures("indexed([192,192],[576,0],contiguous(20000000,float))"),
            (Figures{30720000000, 0, 61440000000, 0, 61440000000}));
  EXPECT_EQ(figures("vector(3,2147483647,2147483647,byte)"),
            (Figures{6442450941, 0, 6442450941, 0, 6442450941}));
  EXPECT_EQ(figures("vector(5000000000,1,2,double)")[0], 40000000000);
}

TEST(Datatype, StructsArePaddedUnlessAMemberWasResized) {
  EXPECT_EQ(figures("struct([1,1],[0,8],[double,char])"), (Figures{9, 0, 16, 0, 9}));
  EXPECT_EQ(figures("struct([1,1],[0,8],[resized(0,8,double),char])"), (Figures{9, 0, 8, 0, 9}));
  EXPECT_EQ(figures("struct([1,1],[4,8],[char,int])"), (Figures{5, 4, 8, 4, 8}));
  EXPECT_EQ(figures("hindexed([1,1],[0,8],char)"), (Figures{2, 0, 9, 0, 9}));
  EXPECT_EQ(figures("struct([1],[0],[dup(resized(-4,13,int))])"), (Figures{4, -4, 13, 0, 4}));
}

TEST(Datatype, BlocksOfADistributedArrayAreDealtOut) {
  EXPECT_EQ(figures("darray(4,0,[6,4],[cyclic,block],[2,default],[2,2],c,int)"), (Figures{32, 0, 96, 0, 88}));
  EXPECT_EQ(figures("darray(3,2,[7],[block],[default],[3],c,double)"), (Figures{8, 0, 56, 48, 8}));
  EXPECT_EQ(figures("darray(4,3,[2],[block],[default],[4],c,double)"), (Figures{0, 0, 16, 0, 0}));
  EXPECT_EQ(figures("darray(2,0,[3],[cyclic],[1000000000000000000],[2],c,int)"), (Figures{12, 0, 12, 0, 12}));
}

TEST(Datatype, RefusalsNameTheArgumentAndItsValue) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("contiguous(-3,int)"), HasSubstr("contiguous: count is -3"));
  EXPECT_THAT(refusal("vector(1,-2,1,int)"), HasSubstr("vector: block length is -2"));
  EXPECT_THAT(refusal("hvector(-1,2,1,int)"), HasSubstr("hvector: count is -1"));
  EXPECT_THAT(refusal("indexed([1,-7],[0,4],int)"), HasSubstr("indexed: a block length is -7"));
  EXPECT_THAT(refusal("indexed([1,2,3],[0,4],int)"),
              HasSubstr("block lengths has 3 entries but displacements has 2"));
  EXPECT_THAT(refusal("indexed_block(-1,[0],int)"), HasSubstr("indexed_block: block length is -1"));
  EXPECT_THAT(refusal("struct([1,1],[0,8],[int])"), HasSubstr("members has 1"));
  EXPECT_THAT(refusal("subarray([4],[5],[0],c,int)"), HasSubstr("subsize 5 of dimension 0 must be 1 to 4"));
  EXPECT_THAT(refusal("subarray([4],[2],[3],c,int)"), HasSubstr("start 3 of dimension 0 must be 0 to 2"));
  EXPECT_THAT(refusal("subarray([],[],[],c,int)"), HasSubstr("at least one dimension"));
  EXPECT_THAT(refusal("darray(4,0,[6],[block],[default],[2],c,int)"),
              HasSubstr("psizes multiply to 2, size is 4"));
  EXPECT_THAT(refusal("darray(2,2,[6],[block],[default],[2],c,int)"),
              HasSubstr("rank 2 is not below size 2"));
  EXPECT_THAT(refusal("darray(2,0,[6],[block],[2],[2],c,int)"), HasSubstr("block of 2 on 2 processes"));
  EXPECT_THAT(refusal("darray(2,0,[6],[none],[default],[2],c,int)"), HasSubstr("psize is 2"));
  EXPECT_THAT(refusal("darray(2,0,[6],[cyclic],[-5],[2],c,int)"), HasSubstr("argument -5"));
}

TEST(Datatype, WhatLeaves64BitsIsRefused) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("contiguous(9223372036854775807,int)"), HasSubstr("size leaves 64 bits"));
  EXPECT_THAT(refusal("vector(4611686018427387904,4,1,byte)"), HasSubstr("size leaves 64 bits"));
  EXPECT_THAT(refusal("vector(3,1,4611686018427387904,int)"), HasSubstr("stride in bytes leaves 64 bits"));
  EXPECT_THAT(refusal("hvector(3,1,9223372036854775807,int)"), HasSubstr("bound leaves 64 bits"));
  EXPECT_THAT(refusal("hindexed([1,1],[-9223372036854775807,9223372036854775800],int)"),
              HasSubstr("leaves 64 bits"));
  EXPECT_THAT(refusal("resized(9223372036854775807,9223372036854775807,int)"), HasSubstr("leaves 64 bits"));
  EXPECT_THAT(refusal("subarray([4294967296,4294967296],[1,1],[0,0],c,int)"), HasSubstr("leaves 64 bits"));
  const Datatype large = parse_type("contiguous(1152921504606846976,int)");
  EXPECT_THAT(error_of([&] { Layout::of(large, 2); }), HasSubstr("leaves 64 bits"));
  EXPECT_THAT(error_of([&] { Layout::of(large, -1); }), HasSubstr("count is -1"));
}

TEST(Datatype, NestingIsLimited) {
  Datatype type = Datatype::basic(Basic::int_);
  const std::string text = error_of([&] {
    for (int i = 0; i < 1000000; ++i) type = Datatype::dup(type);
  });
  EXPECT_THAT(text, testing::HasSubstr("nested deeper than"));
  EXPECT_EQ(Layout::of(type, 1).bytes(), 4);
}

}  // namespace
}  // namespace lath
