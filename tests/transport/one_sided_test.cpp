#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tests/transport/exchange.hpp"

namespace lath::transport {
namespace {

struct Variant {
  const char* name;
  bool rma;
  std::size_t max_message;
};

class OneSidedTest : public testing::TestWithParam<Variant> {
 protected:
  OneSidedTest() : pair(options()) {}
  static providers::StubOptions options() {
    providers::StubOptions options;
    options.limits.rma = GetParam().rma;
    options.limits.max_message = GetParam().max_message;
    return options;
  }
  RegionKey open(void* address, std::size_t bytes) {
    return RegionKey::decode(pair[1].open_region(address, bytes).key());
  }
  Outcome put(const Data& origin, const RegionKey& key, std::int64_t offset, const Layout& target) {
    Request* request = nullptr;
    const Result result = pair[0].put(pair.peer(0), origin, key, offset, target, request);
    EXPECT_TRUE(result.is_done()) << result.error().what();
    return pair.wait(0, request);
  }
  Outcome get(const Data& origin, const RegionKey& key, std::int64_t offset, const Layout& target) {
    Request* request = nullptr;
    const Result result = pair[0].get(pair.peer(0), origin, key, offset, target, request);
    EXPECT_TRUE(result.is_done()) << result.error().what();
    return pair.wait(0, request);
  }
  Pair pair;
};

TEST_P(OneSidedTest, ContiguousPutAndGet) {
  for (std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{50000}}) {
    std::vector<int> memory(count + 20, -1), back(count);
    auto out = counting<int>(count);
    const RegionKey key = open(memory.data(), memory.size() * 4);
    const Layout target = Layout::contiguous(static_cast<std::int64_t>(4 * count));
    EXPECT_EQ(put(data_of(out), key, 40, target).error, nullptr);
    EXPECT_EQ(memory[9], -1);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), memory.begin() + 10));
    EXPECT_EQ(memory[count + 10], -1);
    EXPECT_EQ(get(data_of(back), key, 40, target).error, nullptr);
    EXPECT_EQ(back, out);
  }
  EXPECT_TRUE(pair.network.violations().empty());
}

TEST_P(OneSidedTest, RandomLayoutsOnBothSides) {
  RandomType sending(5);
  RandomType::Options disjoint;
  disjoint.overlap = false;
  RandomType receiving(6, disjoint);
  for (int i = 0; i < 60; ++i) {
    const Layout origin = Layout::of(sending.next(), sending.below(60));
    Datatype type = receiving.next();
    if (type.size() == 0 || origin.bytes() % type.size() != 0) type = Datatype::basic(Basic::byte_);
    type = Datatype::resized(type.true_lower_bound(), type.true_extent() + 3, type);
    const Layout target = Layout::of(type, origin.bytes() / type.size());
    TestBuffer out(origin, false, 1), in(target, false, 2);
    const auto before = in.host();
    const std::vector<std::byte> window = in.host();
    const RegionKey key =
        open(static_cast<std::byte*>(in.data().address) + (in.data().layout ? target.lowest() : 0),
             in.host().size());
    ASSERT_EQ(put(out.data(), key, -target.lowest(), target).error, nullptr);
    ASSERT_TRUE(in.holds(out.packed(), before)) << target.text();
    TestBuffer back(target, false, 3);
    const auto back_before = back.host();
    ASSERT_EQ(get(back.data(), key, -target.lowest(), target).error, nullptr);
    ASSERT_TRUE(back.holds(out.packed(), back_before)) << target.text();
  }
  EXPECT_TRUE(pair.network.violations().empty());
}

TEST_P(OneSidedTest, LongLayoutTravelsInParts) {
  std::vector<std::int64_t> lengths, displacements;
  std::int64_t next = 0;
  for (int i = 0; i < 20000; ++i) {
    lengths.push_back(1 + i * 7 % 3);
    displacements.push_back(next);
    next += lengths.back() + 1 + i * 5 % 4;
  }
  const Datatype type = Datatype::indexed(lengths, displacements, Datatype::basic(Basic::int_));
  const Layout layout = Layout::of(type, 1);
  TestBuffer in(layout, false, 2);
  const auto before = in.host();
  std::vector<std::byte> out(static_cast<std::size_t>(layout.bytes()), std::byte{5});
  const RegionKey key = open(in.data().address, in.host().size());
  EXPECT_EQ(put(data_of(out), key, 0, layout).error, nullptr);
  EXPECT_TRUE(in.holds(out, before));
}

TEST_P(OneSidedTest, OutsideTheRegionIsRefused) {
  std::vector<int> memory(10, -1), out(10, 1);
  const RegionKey key = open(memory.data(), 40);
  Request* request = nullptr;
  for (std::int64_t offset : {-4, 4, 1000}) {
    const Result result =
        pair[0].put(pair.peer(0), data_of(out), key, offset, Layout::contiguous(40), request);
    ASSERT_TRUE(result.is_error());
    EXPECT_EQ(result.error().lath_code(), Code::invalid_argument);
  }
  // A key that claims more than the region has, and a closed one: the target says no.
  RegionKey lying = key;
  lying.bytes = 1000;
  Outcome outcome = put(data_of(out), lying, 8, Layout::contiguous(40));
  ASSERT_NE(outcome.error, nullptr);
  EXPECT_EQ(outcome.error->lath_code(), Code::invalid_argument);
  lying.secret ^= 1;
  outcome = get(data_of(out), lying, 0, Layout::contiguous(40));
  ASSERT_NE(outcome.error, nullptr);
  EXPECT_EQ(memory, std::vector<int>(10, -1));
}

/// Any key that is not the one of an open region ends its request, and nothing else.
TEST_P(OneSidedTest, StaleAndDamagedKeysAreRefused) {
  std::vector<int> memory(20000, -1), out = counting<int>(20000), in(20000);
  Region& region = pair[1].open_region(memory.data(), memory.size() * 4);
  const std::vector<std::byte> bytes = region.key();
  const Layout whole = Layout::contiguous(80000);
  EXPECT_EQ(put(data_of(out), RegionKey::decode(bytes), 0, whole).error, nullptr);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::vector<std::byte> damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    Request* request = nullptr;
    try {
      const RegionKey key = RegionKey::decode(damaged);
      const Result result = pair[0].get(pair.peer(0), data_of(in), key, 0, whole, request);
      if (result.is_error()) {
        EXPECT_EQ(result.error().lath_code(), Code::invalid_argument);
        continue;
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.lath_code(), Code::invalid_argument);
      continue;
    }
    const Outcome outcome = pair.wait(0, request);
    // A key that claims more than there is may be used for what there is.
    const Code code = outcome.error != nullptr ? outcome.error->lath_code() : Code::invalid_argument;
    EXPECT_EQ(code, Code::invalid_argument) << at;
  }
  pair[1].close_region(region);
  for (int round = 0; round < 100; ++round) pair.progress();
  for (int round : {0, 1}) {
    const Outcome outcome = get(data_of(in), RegionKey::decode(bytes), 0, whole);
    ASSERT_NE(outcome.error, nullptr) << round;
    EXPECT_EQ(outcome.error->lath_code(), Code::invalid_argument);
  }
  const RegionKey again = open(memory.data(), memory.size() * 4);
  EXPECT_EQ(get(data_of(in), again, 0, whole).error, nullptr);
  EXPECT_EQ(in, out);
  EXPECT_TRUE(pair.network.violations().empty());
}

TEST_P(OneSidedTest, AReadOnlyRegionIsReadOnly) {
  constexpr std::size_t bytes = 1 << 16;
  void* memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const RegionKey key = open(memory, bytes);
  std::vector<char> local(bytes, 'x');
  const Layout whole = Layout::contiguous(bytes);
  const Outcome outcome = put(data_of(local), key, 0, whole);
  ASSERT_NE(outcome.error, nullptr);
  EXPECT_EQ(outcome.error->lath_code(), Code::bad_address);
  EXPECT_EQ(get(data_of(local), key, 0, whole).error, nullptr);
  EXPECT_EQ(local, std::vector<char>(bytes, 0));
  munmap(memory, bytes);
}

// Of the origin's memory, then of the region's.
TEST(OneSidedRefusal, ARefusedRegistrationSendsItByMessages) {
  for (std::size_t refusing : {0U, 1U}) {
    providers::StubOptions refuses;
    // The first is of the frames of an origin's messages, those after the third of its bounce buffers.
    refuses.failing_registrations =
        refusing == 0 ? std::vector<std::uint64_t>{2, 3} : std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8};
    providers::StubOptions options[2];
    options[refusing] = refuses;
    options[0].limits.local_registration = refusing == 0;
    Pair pair(options[0], options[1]);
    std::vector<int> memory(20000, -1), out = counting<int>(20000), in(20000);
    const RegionKey key = RegionKey::decode(pair[1].open_region(memory.data(), 80000).key());
    Request* request = nullptr;
    ASSERT_TRUE(
        pair[0].put(pair.peer(0), data_of(out), key, 0, Layout::contiguous(80000), request).is_done());
    EXPECT_EQ(pair.wait(0, request).error, nullptr);
    EXPECT_EQ(memory, out);
    ASSERT_TRUE(pair[0].get(pair.peer(0), data_of(in), key, 0, Layout::contiguous(80000), request).is_done());
    EXPECT_EQ(pair.wait(0, request).error, nullptr);
    EXPECT_EQ(in, out);
    EXPECT_TRUE(pair.network.violations().empty());
  }
}

TEST_P(OneSidedTest, EmptyCompletesAtOnce) {
  std::vector<int> memory(1);
  const RegionKey key = open(memory.data(), 4);
  EXPECT_EQ(put({}, key, 0, Layout::contiguous(0)).error, nullptr);
  EXPECT_EQ(get({}, key, 4, Layout::contiguous(0)).error, nullptr);
  (void)pair[1].open_region(nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(Providers, OneSidedTest,
                         testing::Values(Variant{"rma", true, 1 << 20}, Variant{"messages", false, 1 << 20},
                                         Variant{"small", true, 1000}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lath::transport
