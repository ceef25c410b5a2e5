#include "transport/matching.hpp"

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <random>
#include <vector>

namespace lath::transport {
namespace {

struct Receive : Posted {
  int number = 0;
};
struct Arrived : Arrival {
  int number = 0;
};

TEST(Matching, EarliestPostedReceiveWins) {
  Matching matching;
  Receive any, exact;
  any.key = {0, any_source, any_tag};
  exact.key = {0, 3, 5};
  matching.post(any);
  matching.post(exact);
  EXPECT_EQ(matching.take_posted({1, 3, 5}), nullptr);
  EXPECT_EQ(matching.take_posted({0, 3, 5}), &any);
  EXPECT_EQ(matching.take_posted({0, 3, 5}), &exact);
  EXPECT_EQ(matching.take_posted({0, 3, 5}), nullptr);
}

TEST(Matching, EarliestArrivalWins) {
  Matching matching;
  Arrived first, second;
  first.key = {0, 1, 5};
  second.key = {0, 2, 5};
  matching.add(first);
  matching.add(second);
  EXPECT_EQ(matching.find_arrival({0, any_source, 5}), &first);
  EXPECT_EQ(matching.find_arrival({0, 2, 5}), &second);
  matching.remove(first);
  EXPECT_EQ(matching.find_arrival({0, any_source, any_tag}), &second);
  matching.remove(second);
  EXPECT_EQ(matching.find_arrival({0, any_source, any_tag}), nullptr);
}

/// The same by linear search.
struct Reference {
  std::list<Receive*> posted;
  std::list<Arrived*> arrivals;

  Receive* take_posted(const MatchKey& message) {
    for (auto at = posted.begin(); at != posted.end(); ++at)
      if (matches((*at)->key, message)) {
        Receive* found = *at;
        posted.erase(at);
        return found;
      }
    return nullptr;
  }
  Arrived* find(const MatchKey& wanted) {
    for (Arrived* arrival : arrivals)
      if (matches(wanted, arrival->key)) return arrival;
    return nullptr;
  }
};

class MatchingRandom : public testing::TestWithParam<int> {};

TEST_P(MatchingRandom, AgreesWithLinearSearch) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  const int range = 2 + below(5);
  Matching matching;
  Reference reference;
  std::vector<std::unique_ptr<Receive>> receives;
  std::vector<std::unique_ptr<Arrived>> arrivals;
  const int bias = below(3);
  for (int step = 0; step < 5000; ++step) {
    MatchKey key{static_cast<std::uint32_t>(below(2)), below(range), below(range)};
    if (below(4) < 1 + bias) {
      if (below(4) == 0) key.source = any_source;
      if (below(4) == 0) key.tag = any_tag;
      Arrival* found = matching.find_arrival(key);
      ASSERT_EQ(found, reference.find(key));
      if (found != nullptr) {
        matching.remove(*found);
        reference.arrivals.remove(static_cast<Arrived*>(found));
      } else {
        receives.push_back(std::make_unique<Receive>());
        receives.back()->key = key;
        matching.post(*receives.back());
        reference.posted.push_back(receives.back().get());
      }
    } else if (below(10) == 0 && !reference.posted.empty()) {
      auto at = reference.posted.begin();
      std::advance(at, below(static_cast<int>(reference.posted.size())));
      matching.withdraw(**at);
      reference.posted.erase(at);
    } else {
      Posted* found = matching.take_posted(key);
      ASSERT_EQ(found, reference.take_posted(key));
      if (found == nullptr) {
        arrivals.push_back(std::make_unique<Arrived>());
        arrivals.back()->key = key;
        matching.add(*arrivals.back());
        reference.arrivals.push_back(arrivals.back().get());
      }
    }
    ASSERT_EQ(matching.posted(), reference.posted.size());
    ASSERT_EQ(matching.arrivals(), reference.arrivals.size());
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, MatchingRandom, testing::Range(0, 20));

TEST(Matching, TablesGrowAndKeepOrder) {
  Matching matching;
  std::vector<Receive> receives(20000);
  for (std::size_t i = 0; i < receives.size(); ++i) {
    receives[i].key = {0, static_cast<std::int32_t>(i % 500), static_cast<std::int64_t>(i % 40)};
    matching.post(receives[i]);
  }
  for (std::size_t i = 0; i < receives.size(); ++i)
    ASSERT_EQ(matching.take_posted(receives[i].key), &receives[i]);
}

}  // namespace
}  // namespace lath::transport
