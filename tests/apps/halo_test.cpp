#include "apps/wave/halo.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "base/error.hpp"

namespace {

using namespace lath::wave;

TEST(Halo, TypesAreThoseOfTheApplicationItFollows) {
  const Extents n{105, 105, 105};
  EXPECT_EQ(halo_face(Face::x_low, Order::c, n).type.text(), "vector(33075,2,105,double)");
  EXPECT_EQ(halo_face(Face::y_high, Order::c, n).type.text(), "vector(315,210,11025,double)");
  EXPECT_EQ(halo_face(Face::x_high, Order::fortran, n).type.text(), "vector(11025,6,315,double)");
  EXPECT_EQ(halo_face(Face::y_low, Order::fortran, n).type.text(), "vector(105,630,33075,double)");
  EXPECT_EQ(halo_face(Face::x_low, Order::c, n).type.bytes(), 529200);
}

/// The elements that a type reaches from `first`.
std::set<std::int64_t> elements(const HaloType& type, std::int64_t first) {
  std::set<std::int64_t> result;
  for (std::int64_t block = 0; block < type.count; ++block) {
    for (std::int64_t e = 0; e < type.block_length; ++e) result.insert(first + block * type.stride + e);
  }
  return result;
}

TEST(Halo, FacesReachExactlyTheTwoLayers) {
  const Extents n{7, 9, 5};
  for (Order order : {Order::c, Order::fortran}) {
    const Strides s = strides_of(order, n);
    for (Face face : faces) {
      const bool along_x = face == Face::x_low || face == Face::x_high;
      const bool low = face == Face::x_low || face == Face::y_low;
      const std::int64_t points = along_x ? n.i : n.j;
      std::set<std::int64_t> sent, received;
      for (std::int64_t c = 0; c < 3; ++c) {
        for (std::int64_t k = 0; k < n.k; ++k) {
          for (std::int64_t j = 0; j < n.j; ++j) {
            for (std::int64_t i = 0; i < n.i; ++i) {
              const std::int64_t at = low ? (along_x ? i : j) : points - 1 - (along_x ? i : j);
              if (at < 2) received.insert(element(s, c, i, j, k));
              if (at >= 2 && at < 4) sent.insert(element(s, c, i, j, k));
            }
          }
        }
      }
      const HaloFace halo = halo_face(face, order, n);
      EXPECT_EQ(elements(halo.type, halo.send_element), sent) << name(face);
      EXPECT_EQ(elements(halo.type, halo.receive_element), received) << name(face);
    }
  }
}

TEST(Decomposition, CoversTheGridOnceAndNeighboursAgree) {
  const std::array<std::int64_t, 3> points{37, 23, 11};
  for (int ranks : {1, 2, 3, 4, 6, 8}) {
    std::vector<int> covered(static_cast<std::size_t>(points[0] * points[1]));
    for (int rank = 0; rank < ranks; ++rank) {
      const Block block = decompose(points, ranks, rank);
      EXPECT_EQ(block.ranks[0] * block.ranks[1], ranks);
      for (std::int64_t j = 0; j < block.range[1].count; ++j) {
        for (std::int64_t i = 0; i < block.range[0].count; ++i) {
          ++covered[static_cast<std::size_t>((block.range[1].first + j) * points[0] + block.range[0].first +
                                             i)];
        }
      }
      for (Face face : faces) {
        const std::optional<int> neighbour = block.neighbour(face);
        if (!neighbour) continue;
        const Block other = decompose(points, ranks, *neighbour);
        EXPECT_EQ(other.neighbour(opposite(face)), rank);
        EXPECT_EQ(halo_face(face, Order::c, block.extents()).type.bytes(),
                  halo_face(opposite(face), Order::c, other.extents()).type.bytes());
      }
    }
    EXPECT_EQ(std::accumulate(covered.begin(), covered.end(), 0), points[0] * points[1]);
    EXPECT_EQ(std::set<int>(covered.begin(), covered.end()), std::set<int>{1});
  }
}

TEST(Decomposition, RefusesMoreRanksThanPoints) {
  EXPECT_THROW(static_cast<void>(decompose({5, 5, 5}, 16, 0)), lath::Error);
}

}  // namespace
