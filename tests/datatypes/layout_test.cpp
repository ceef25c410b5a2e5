#include "datatypes/layout.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

#include "datatypes/cursor.hpp"
#include "datatypes/type_spec.hpp"
#include "tests/datatypes/typemap_oracle.hpp"

namespace lath {
namespace {

using Segments = std::vector<LayoutSegment>;

Layout layout(const char* text, std::int64_t count = 1) {
  return Layout::of(parse_type(text), count);
}

Segments segments(const Layout& layout) {
  Segments result(static_cast<std::size_t>(layout.segment_count()) + 1);
  result.resize(list_segments(layout, {0, layout.bytes()}, result).count);
  EXPECT_EQ(static_cast<std::int64_t>(result.size()), layout.segment_count());
  return result;
}
Segments segments(const char* text, std::int64_t count = 1) {
  return segments(layout(text, count));
}

/// The ints that packing takes out of 0, 1, 2 ..., with the buffer at element `from`.
std::vector<int> packed_ints(const char* text, std::int64_t count = 1, int from = 0) {
  std::vector<int> memory(200);
  std::iota(memory.begin(), memory.end(), 0);
  const Layout form = layout(text, count);
  std::vector<int> result(static_cast<std::size_t>(form.bytes()) / sizeof(int));
  pack(form, memory.data() + from, {0, form.bytes()}, result.data());
  return result;
}

TEST(Layout, BL01_ResizedSmallerThanItsDataOverlaps) {
  const std::vector<int> right = {0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(packed_ints("resized(0,4,contiguous(8,int))", 2), right);
  EXPECT_EQ(packed_ints("contiguous(2,resized(0,4,contiguous(8,int)))"), right);
  EXPECT_EQ(parse_type("contiguous(2,resized(0,4,contiguous(8,int)))").extent(), 8);
  EXPECT_EQ(layout("resized(0,4,contiguous(8,int))", 2).bytes(), 64);
}

TEST(Layout, BL02_DataAtTheResizedExtent) {
  EXPECT_EQ(segments("contiguous(3,resized(0,6,int))"), (Segments{{0, 4}, {6, 4}, {12, 4}}));
}

TEST(Layout, BL03_EmptyTypesAreEmpty) {
  for (const char* text :
       {"indexed([0],[0],c_double_complex)", "hvector(0,3,64,int)", "contiguous(0,char)"}) {
    const Layout form = layout(text, 5);
    EXPECT_EQ(form.kind(), LayoutKind::empty);
    EXPECT_EQ(form.bytes(), 0);
    EXPECT_EQ(form.segment_count(), 0);
    EXPECT_EQ(form.hash(), Layout::contiguous(0).hash());
    EXPECT_TRUE(Cursor(form).at_end());
    std::byte untouched{0x5a};
    unpack(form, &untouched, {0, 0}, &untouched);
    EXPECT_EQ(untouched, std::byte{0x5a});
  }
}

TEST(Layout, BL06_TypemapOrderIsKept) {
  std::vector<int> backwards(64);
  for (int i = 0; i < 64; ++i) backwards[static_cast<std::size_t>(i)] = 63 - i;
  EXPECT_EQ(packed_ints("vector(64,1,-1,int)", 1, 63), backwards);
  EXPECT_EQ(packed_ints("hindexed([1,1,1],[8,0,4],int)"), (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(segments("hindexed([1,1,1],[8,0,4],int)"), (Segments{{8, 4}, {0, 8}}));
}

TEST(Layout, BL07_OverlappingBlocksAreNotContiguous) {
  const int memory[] = {1, 2, 3, -2, 5, 6, 7, -3};
  const Layout form = layout("indexed([2,2,1,3],[0,1,2,4],int)");
  std::vector<int> result(8);
  pack(form, memory, {0, 32}, result.data());
  EXPECT_EQ(result, (std::vector<int>{1, 2, 2, 3, 3, 5, 6, 7}));
}

TEST(Layout, BL08_StrideZeroRepeats) {
  EXPECT_EQ(packed_ints("struct([1,1],[0,12],[vector(3,1,0,int),int])"), (std::vector<int>{0, 0, 0, 3}));
  // Which value stays is not said, only that nothing else is written.
  const Layout form = layout("struct([1,1],[0,12],[vector(3,1,0,int),int])");
  std::vector<int> target(6, -1);
  const int packed[] = {1, 2, 3, 4};
  unpack(form, target.data() + 1, {0, 16}, packed);
  EXPECT_EQ(target[0], -1);
  EXPECT_EQ(target[2], -1);
  EXPECT_EQ(target[3], -1);
  EXPECT_EQ(target[4], 4);
  EXPECT_EQ(target[5], -1);
}

TEST(Layout, BL13_SubarrayElements) {
  EXPECT_EQ(packed_ints("subarray([4,3,2],[2,2,1],[1,1,1],fortran,int)"), (std::vector<int>{17, 18, 21, 22}));
  EXPECT_EQ(packed_ints("subarray([4,3,2],[2,2,1],[1,1,1],c,int)"), (std::vector<int>{9, 11, 15, 17}));
}

TEST(Layout, BL15_HolesOfPairTypesStayUntouched) {
  const Layout form = layout("short_int", 4);
  EXPECT_EQ(form.bytes(), 24);
  std::vector<std::byte> packed(24, std::byte{1});
  std::vector<std::byte> memory(32, std::byte{7});
  unpack(form, memory.data(), {0, 24}, packed.data());
  for (std::size_t i = 0; i < 32; ++i)
    EXPECT_EQ(memory[i], i % 8 == 2 || i % 8 == 3 ? std::byte{7} : std::byte{1});
  std::vector<std::byte> again(24);
  pack(form, memory.data(), {0, 24}, again.data());
  EXPECT_EQ(again, packed);
}

TEST(Layout, BL16_SizesPast31Bits) {
  EXPECT_EQ(segments("indexed([192,192],[576,0],contiguous(20000000,float))"),
            (Segments{{46080000000, 15360000000}, {0, 15360000000}}));
  EXPECT_EQ(segments("vector(3,2147483647,2147483647,byte)"), (Segments{{0, 6442450941}}));
  EXPECT_EQ(segments("indexed([1500000000,1500000000],[0,1500000000],byte)"), (Segments{{0, 3000000000}}));
}

TEST(Layout, BL19_MergesAcrossIterations) {
  EXPECT_EQ(segments("contiguous(3,int)", 4), (Segments{{0, 48}}));
  const Segments right = {{0, 8}, {16, 8}, {32, 16}, {56, 8}, {72, 8}};
  const Layout form = layout("vector(3,2,4,int)", 2);
  EXPECT_EQ(segments(form), right);
  EXPECT_EQ(form.bytes(), 48);
  for (const std::size_t entries : {1U, 2U, 3U}) {
    Segments all;
    for (std::int64_t at = 0; at < form.bytes();) {
      Segments some(entries);
      const SegmentList list = list_segments(form, {at, form.bytes()}, some);
      all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(list.count));
      at += list.bytes;
    }
    EXPECT_EQ(all, right);
  }
}

TEST(Layout, RegularTypesBecomeNests) {
  const Layout vector = layout("vector(600,400,40000,double)");
  ASSERT_NE(vector.nest(), nullptr);
  EXPECT_EQ(*vector.nest(), (StridedNest{0, 3200, {{600, 320000}}}));
  EXPECT_EQ(vector.text(), "strided offset 0 block 3200 loops 600 x 320000");
  const Layout face = layout("subarray([102,102,102],[100,100,1],[1,1,1],c,double)");
  ASSERT_NE(face.nest(), nullptr);
  EXPECT_EQ(*face.nest(), (StridedNest{84056, 8, {{100, 83232}, {100, 816}}}));
  EXPECT_EQ(layout("contiguous(7,int)", 3).kind(), LayoutKind::contiguous);
}

TEST(Layout, EqualWalksHaveEqualHashes) {
  const std::vector<std::vector<const char*>> families = {
      {"vector(4,1,2,int)", "hvector(4,1,8,int)", "indexed([1,1,1,1],[0,2,4,6],int)",
       "indexed_block(1,[0,2,4,6],int)", "hindexed_block(1,[0,8,16,24],int)",
       "contiguous(4,resized(0,8,int))", "vector(2,1,2,resized(0,8,vector(2,1,2,int)))",
       "struct([1,1,1,1],[0,8,16,24],[int,float,int,unsigned])", "subarray([4,2],[4,1],[0,0],c,int)",
       "subarray([2,4],[1,4],[0,0],fortran,int)", "dup(contiguous(1,vector(4,1,2,int)))",
       "struct([1],[0],[hindexed([1],[0],vector(4,1,2,int))])",
       "darray(2,0,[8],[cyclic],[default],[2],c,int)", "contiguous(2,resized(0,16,vector(2,4,8,byte)))"},
      {"contiguous(16,byte)", "contiguous(2,double)", "vector(2,2,2,int)",
       "struct([1,1],[0,8],[double,2int])", "indexed([1,3],[0,1],int)", "c_double_complex", "long_double"},
      {"hvector(3,1,1000,vector(40,1,2,int))", "hindexed([1,1,1],[0,1000,2000],vector(40,1,2,int))",
       "struct([1,1,1],[0,1000,2000],[vector(40,1,2,int),vector(40,1,2,int),vector(40,1,2,float)])"},
      {"vector(6,2,5,double)", "vector(2,1,3,resized(0,40,vector(3,2,5,double)))",
       "contiguous(2,resized(0,120,vector(3,2,5,double)))"},
      {"contiguous(0,int)", "hvector(0,3,64,int)", "struct([],[],[])"},
  };
  std::vector<LayoutHash> hashes;
  for (const auto& family : families) {
    hashes.push_back(layout(family[0]).hash());
    for (const char* text : family)
      EXPECT_EQ(layout(text).hash(), hashes.back()) << text << ": " << layout(text).text();
  }
  std::ranges::sort(hashes);
  EXPECT_EQ(std::ranges::adjacent_find(hashes), hashes.end());
  EXPECT_NE(layout("hindexed([1],[4],int)").hash(), layout("int").hash());
}

TEST(Layout, IndexListsBecomeLoops) {
  std::vector<std::int64_t> displacements;
  for (std::int64_t plane = 0; plane < 20; ++plane)
    for (std::int64_t row = 0; row < 30; ++row) displacements.push_back(plane * 1000 + row * 3);
  const Layout form = Layout::of(Datatype::indexed_block(1, displacements, Datatype::basic(Basic::int_)), 1);
  ASSERT_NE(form.nest(), nullptr) << form.text();
  EXPECT_EQ(*form.nest(), (StridedNest{0, 4, {{20, 4000}, {30, 12}}}));
}

TEST(Layout, IrregularListsBecomeOneTable) {
  const Layout form =
      layout("struct([1,1],[0,4000],[indexed([1,2,1],[7,0,30],int),hindexed([3,1],[1000,9],short)])");
  ASSERT_EQ(form.kind(), LayoutKind::table);
  const SegmentTable table = *form.table();
  EXPECT_EQ(std::vector<std::int64_t>(table.offsets.begin(), table.offsets.end()),
            (std::vector<std::int64_t>{28, 0, 120, 5000, 4009}));
  EXPECT_EQ(std::vector<std::int64_t>(table.lengths.begin(), table.lengths.end()),
            (std::vector<std::int64_t>{4, 8, 4, 6, 2}));
  EXPECT_EQ(std::vector<std::int64_t>(table.prefix.begin(), table.prefix.end()),
            (std::vector<std::int64_t>{0, 4, 12, 16, 22, 24}));
}

TEST(Layout, CostFollowsTheDescriptionNotTheData) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(layout("vector(1000000000,1,2,int)").segment_count(), 1000000000);
  const Layout structs = layout("struct([1,1],[0,8],[int,double])", 1000000000);
  EXPECT_EQ(structs.segment_count(), 1000000001);  // a double meets the int after it
  EXPECT_EQ(structs.bytes(), 12000000000);
  const Layout joined = layout("vector(3,2,4,int)", 1000000000);
  EXPECT_EQ(joined.segment_count(), 2000000001);
  Cursor cursor(joined, joined.bytes() - 24 - 8);
  EXPECT_EQ(cursor.next(), (LayoutSegment{39999999952, 16}));
  EXPECT_EQ(cursor.next(), (LayoutSegment{39999999976, 8}));
  // A type that shares its parts: 2^60 blocks from 60 constructor calls.
  Datatype type = parse_type("indexed([1,1,1],[0,2,7],byte)");
  for (int i = 0; i < 40; ++i) {
    const Datatype members[] = {type, type};
    const std::int64_t lengths[] = {1, 1};
    const std::int64_t displacements[] = {0, type.extent() + 1 + i % 3};
    type = Datatype::struct_(lengths, displacements, members);
  }
  const Layout shared = Layout::of(type, 1);
  EXPECT_EQ(shared.bytes(), 3LL << 40);
  EXPECT_EQ(shared.segment_count(), 3LL << 40);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Layout, JoinsNestedDeeplyStayExact) {
  // Each level's copies meet end to start.
  Datatype type = parse_type("vector(2,2,3,byte)");
  for (int i = 0; i < 7; ++i) {
    type = Datatype::contiguous(3, type);
    const std::vector<LayoutSegment> right = oracle::merged(oracle::elements(oracle::typemap(type), 1));
    EXPECT_EQ(segments(Layout::of(type, 1)), right);
  }
  for (int i = 0; i < 12; ++i) type = Datatype::contiguous(3, type);
  std::int64_t copies = 1;
  for (int i = 0; i < 19; ++i) copies *= 3;
  EXPECT_EQ(Layout::of(type, 1).segment_count(), copies + 1);
}

}  // namespace
}  // namespace lath
