#include "base/unique_handle.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace lath {
namespace {

std::vector<int> destroyed;

struct Traits {
  using type = int;
  static constexpr type null() { return -1; }
  static void destroy(type handle) noexcept { destroyed.push_back(handle); }
};
using Handle = unique_handle<Traits>;
static_assert(!std::is_copy_constructible_v<Handle> && !std::is_copy_assignable_v<Handle>);
static_assert(sizeof(Handle) == sizeof(int));

TEST(UniqueHandle, DestroysOnceAndNeverNull) {
  destroyed.clear();
  { Handle empty; }
  EXPECT_TRUE(destroyed.empty());
  { Handle one(1); }
  EXPECT_EQ(destroyed, std::vector{1});
}

TEST(UniqueHandle, MoveAssignmentDestroysTheOldOne) {
  destroyed.clear();
  {
    Handle one(1);
    Handle two(2);
    one = std::move(two);
    EXPECT_EQ(destroyed, std::vector{1});
    EXPECT_EQ(one.get(), 2);
    EXPECT_FALSE(two);  // NOLINT(bugprone-use-after-move): the moved-from state is what is tested
  }
  EXPECT_EQ(destroyed, (std::vector{1, 2}));
}

TEST(UniqueHandle, ReceiveDropsTheOldOne) {
  destroyed.clear();
  Handle one(1);
  *one.receive() = 5;
  EXPECT_EQ(destroyed, std::vector{1});
  EXPECT_EQ(one.release(), 5);
  EXPECT_EQ(destroyed, std::vector{1});
}

}  // namespace
}  // namespace lath
