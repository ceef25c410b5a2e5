#include "transport/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/config.hpp"
#include "base/error.hpp"
#include "datatypes/cursor.hpp"
#include "tests/transport/allocation_count.hpp"
#include "tests/transport/random_shape.hpp"
#include "transport/remembered_plans.hpp"

namespace lath::transport {
namespace {

using providers::Limits;
using providers::MemoryKind;
using ::testing::HasSubstr;

constexpr Capabilities no_gpu{};
constexpr Capabilities gpu{.gpu = true, .kernels = true, .bounce_bytes = 0};

Limits limits(std::size_t list, bool device_memory = false) {
  Limits out;
  out.send_list = out.receive_list = list;
  out.max_message = std::size_t{1} << 30;
  out.queue_depth = 256;
  out.device_memory = device_memory;
  if (!device_memory) out.device_memory_reason = "built without CUDA";
  return out;
}

Layout vector_layout(std::int64_t count, std::int64_t block, std::int64_t stride) {
  return Layout::of(Datatype::vector(count, block, stride, Datatype::basic(Basic::double_)), 1);
}
Summary face(std::int64_t count, std::int64_t block, std::int64_t stride, MemoryKind memory) {
  return summarise(vector_layout(count, block, stride), memory);
}
const Verdict& verdict(const std::vector<Verdict>& verdicts, Scheme scheme) {
  return verdicts.at(static_cast<std::size_t>(scheme));
}

TEST(Judge, NamesEverySchemeInOrder) {
  const auto verdicts = judge(face(600, 400, 40000, MemoryKind::host), Direction::send, limits(4), no_gpu);
  ASSERT_EQ(verdicts.size(), scheme_count);
  for (std::size_t i = 0; i < scheme_count; ++i) {
    EXPECT_EQ(verdicts[i].scheme, static_cast<Scheme>(i));
    EXPECT_FALSE(verdicts[i].reason.empty());
    EXPECT_EQ(verdicts[i].seconds > 0, verdicts[i].legal);
  }
  EXPECT_EQ(name(Scheme::host_pack), "host_pack");
}

TEST(Judge, SaysWhyHostDataGoesAsItDoes) {
  const auto verdicts = judge(face(600, 400, 40000, MemoryKind::host), Direction::send, limits(4), no_gpu);
  EXPECT_FALSE(verdict(verdicts, Scheme::contiguous).legal);
  EXPECT_EQ(verdict(verdicts, Scheme::contiguous).reason, "600 segments are not one block");
  EXPECT_TRUE(verdict(verdicts, Scheme::gather).legal);
  EXPECT_EQ(verdict(verdicts, Scheme::gather).reason,
            "list length 4 is less than 600 segments; uniform blocks of 3200 bytes go in 150 operations");
  EXPECT_FALSE(verdict(verdicts, Scheme::device_pack).legal);
  EXPECT_TRUE(verdict(verdicts, Scheme::host_pack).legal);
  EXPECT_TRUE(verdict(verdicts, Scheme::staged).legal);
}

TEST(Judge, SaysWhyDeviceMemoryIsOutOfReach) {
  const Summary side = face(600, 400, 40000, MemoryKind::device);
  const auto verdicts = judge(side, Direction::send, limits(4), gpu);
  for (const Scheme scheme : {Scheme::gather, Scheme::device_pack}) {
    EXPECT_FALSE(verdict(verdicts, scheme).legal);
    EXPECT_THAT(verdict(verdicts, scheme).reason,
                HasSubstr("cannot reach device memory: built without CUDA"));
  }
  EXPECT_TRUE(verdict(verdicts, Scheme::host_pack).legal);
  const auto without = judge(side, Direction::send, limits(4, true), {.gpu = true, .kernels = false});
  EXPECT_FALSE(verdict(without, Scheme::host_pack).legal);
  EXPECT_FALSE(verdict(without, Scheme::device_pack).legal);
  EXPECT_TRUE(verdict(without, Scheme::gather).legal);
  EXPECT_THAT(verdict(without, Scheme::staged).reason, HasSubstr("segment by segment"));
}

TEST(Judge, BL17_MixedMemoryIsStaged) {
  const Summary side = face(2, 1, 4, MemoryKind::device);
  for (const Verdict& each : judge(side, Direction::send, limits(4, true), gpu, true)) {
    EXPECT_EQ(each.legal, each.scheme == Scheme::staged);
    EXPECT_FALSE(each.reason.empty());
  }
  EXPECT_EQ(choose(side, Direction::send, limits(4, true), gpu, true), Scheme::staged);
}

TEST(Judge, BL43_SendAndReceiveListsAreTwoLimits) {
  Limits granted = limits(30);
  granted.receive_list = 1;
  const Summary side = face(31, 64, 128, MemoryKind::host);
  EXPECT_TRUE(is_legal(Scheme::gather, side, Direction::send, granted, no_gpu));
  EXPECT_FALSE(is_legal(Scheme::gather, side, Direction::receive, granted, no_gpu));
  const auto verdicts = judge(side, Direction::receive, granted, no_gpu);
  EXPECT_EQ(verdict(verdicts, Scheme::gather).reason, "list length 1 is less than 31 segments");
}

TEST(Judge, UnevenBlocksMustFitOneList) {
  const std::int64_t lengths[] = {1, 2, 3};
  const std::int64_t displacements[] = {0, 4, 9};
  const Summary side =
      summarise(Layout::of(Datatype::indexed(lengths, displacements, Datatype::basic(Basic::double_)), 1),
                MemoryKind::host);
  EXPECT_TRUE(is_legal(Scheme::gather, side, Direction::send, limits(3), no_gpu));
  EXPECT_FALSE(is_legal(Scheme::gather, side, Direction::send, limits(2), no_gpu));
  EXPECT_THAT(verdict(judge(side, Direction::send, limits(2), no_gpu), Scheme::gather).reason,
              HasSubstr("lengths differ"));
}

TEST(Choose, TakesTheUsersBlockWhereThereIsOne) {
  const Summary one = summarise(Layout::contiguous(1 << 20), MemoryKind::host);
  EXPECT_EQ(choose(one, Direction::send, limits(1), no_gpu), Scheme::contiguous);
  const Summary device = summarise(Layout::contiguous(1 << 20), MemoryKind::device);
  EXPECT_EQ(choose(device, Direction::send, limits(1, true), gpu), Scheme::contiguous);
  EXPECT_EQ(choose(device, Direction::send, limits(1), gpu), Scheme::host_pack);
}

TEST(Choose, GathersLargeBlocksAndPacksSmallOnes) {
  const Limits nic = limits(30, true);
  EXPECT_EQ(choose(face(600, 400, 40000, MemoryKind::device), Direction::send, nic, gpu), Scheme::gather);
  EXPECT_EQ(choose(face(120000, 2, 200, MemoryKind::device), Direction::send, nic, gpu), Scheme::device_pack);
  EXPECT_EQ(choose(face(120000, 2, 200, MemoryKind::host), Direction::send, nic, gpu), Scheme::host_pack);
}

TEST(Choose, ForcesWhereLegal) {
  const Summary side = face(600, 400, 40000, MemoryKind::host);
  for (const Scheme scheme : {Scheme::gather, Scheme::host_pack, Scheme::staged})
    EXPECT_EQ(choose(side, Direction::send, limits(4), no_gpu, false, {.forced = scheme}), scheme);
  const Scheme free = choose(side, Direction::send, limits(4), no_gpu);
  EXPECT_EQ(choose(side, Direction::send, limits(4), no_gpu, false, {.forced = Scheme::contiguous}), free);
}

TEST(Fallback, EndsAtStaged) {
  const Summary host = face(600, 400, 40000, MemoryKind::host);
  const Summary device = face(600, 400, 40000, MemoryKind::device);
  EXPECT_EQ(fallback(Scheme::gather, host, no_gpu), Scheme::host_pack);
  EXPECT_EQ(fallback(Scheme::device_pack, device, gpu), Scheme::host_pack);
  EXPECT_EQ(fallback(Scheme::gather, device, {.gpu = true, .kernels = false}), Scheme::staged);
  EXPECT_EQ(fallback(Scheme::host_pack, host, no_gpu), Scheme::staged);
  EXPECT_EQ(fallback(Scheme::staged, host, no_gpu), Scheme::staged);
}

TEST(Plan, OneChunkWhereNothingBounds) {
  const Summary source = face(3, 400, 40000, MemoryKind::host);
  const Summary sink = summarise(Layout::contiguous(9600), MemoryKind::host);
  const Plan plan = make_plan(source, limits(4), no_gpu, false, sink, limits(4), no_gpu, false);
  EXPECT_EQ(plan.source, Scheme::gather);
  EXPECT_EQ(plan.sink, Scheme::contiguous);
  EXPECT_EQ(plan.chunk_bytes, 9600);
  EXPECT_EQ(plan.chunks_in_flight, 1);
}

TEST(Plan, LargestMessageBounds) {
  const Summary side = summarise(Layout::contiguous(1 << 20), MemoryKind::host);
  Limits small = limits(4);
  small.max_message = 100000;
  const Plan plan = make_plan(side, limits(4), no_gpu, false, side, small, no_gpu, false);
  EXPECT_EQ(plan.chunk_bytes, 100000);
}

TEST(Plan, BL41_RegisteredSidesKeepChunksThatCanFallBack) {
  const Summary side = summarise(Layout::contiguous(500 << 20), MemoryKind::host);
  Limits registered = limits(4);
  registered.local_registration = true;
  const Plan plan = make_plan(side, registered, no_gpu, false, side, limits(4), no_gpu, false);
  EXPECT_EQ(plan.source, Scheme::contiguous);
  EXPECT_EQ(plan.chunk_bytes, Tuning{}.chunk_bytes);
  EXPECT_EQ(plan.chunks_in_flight, Tuning{}.chunks_in_flight);
}

TEST(Plan, SmallerBounceBuffersOfEitherSideBound) {
  const Summary side = face(120000, 2, 200, MemoryKind::host);
  const Capabilities little{.gpu = false, .kernels = false, .bounce_bytes = 4096};
  const Plan plan = make_plan(side, limits(4), little, false, side, limits(4), no_gpu, false);
  EXPECT_EQ(plan.source, Scheme::host_pack);
  EXPECT_EQ(plan.sink, Scheme::host_pack);
  EXPECT_EQ(plan.chunk_bytes, 4096);
}

TEST(Plan, ShorterSideDecidesTheLength) {
  const Summary source = summarise(Layout::contiguous(1 << 20), MemoryKind::host);
  const Summary sink = summarise(Layout::contiguous(1000), MemoryKind::host);
  const Plan plan = make_plan(source, limits(4), no_gpu, false, sink, limits(4), no_gpu, false);
  EXPECT_EQ(plan.chunk_bytes, 1000);
}

TEST(Plan, EmptyMessageHasAChunkSize) {
  const Summary none = summarise(Layout::contiguous(0), MemoryKind::host);
  const Plan plan = make_plan(none, limits(4), no_gpu, false, none, limits(4), no_gpu, false);
  EXPECT_GE(plan.chunk_bytes, 1);
  EXPECT_EQ(plan.chunks_in_flight, 1);
}

TEST(Plan, FieldsFromTheWireCannotBreakIt) {
  RandomShapes random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto any = [&] { return static_cast<std::int64_t>(random.engine()()) >> random.number(0, 63); };
    Summary odd;
    odd.bytes = any();
    odd.segments = any();
    odd.uniform_block = any();
    const Summary sink = face(600, 3, 7, MemoryKind::host);
    const Plan plan = make_plan(odd, limits(4), no_gpu, false, sink, limits(3), no_gpu, false,
                                {.forced = std::nullopt, .chunk_bytes = 4096});
    ASSERT_GE(plan.chunk_bytes, 1);
    ASSERT_GE(plan.chunks_in_flight, 1);
  }
}

struct Side {
  Layout layout;
  Summary summary;
  Limits limits;
  Capabilities capabilities;
  bool mixed = false;
};

Side random_side(RandomShapes& random) {
  const bool uniform = random.number(0, 1) == 0;
  const Layout layout =
      uniform ? vector_layout(random.number(1, 200), random.number(1, 60), 64)
              : Layout::of(random.shape(static_cast<int>(random.number(0, 3))).type, random.number(0, 9));
  const bool device = random.number(0, 1) == 1;
  Side side{layout, summarise(layout, device ? MemoryKind::device : MemoryKind::host), {}, {}};
  side.limits = limits(1, random.number(0, 1) == 1);
  side.limits.send_list = static_cast<std::size_t>(random.number(1, 40));
  side.limits.receive_list = static_cast<std::size_t>(random.number(1, 40));
  side.limits.max_message = static_cast<std::size_t>(random.number(1, 1 << random.number(1, 20)));
  side.limits.local_registration = random.number(0, 1) == 1;
  side.capabilities.gpu = device;
  side.capabilities.kernels = device && random.number(0, 3) != 0;
  side.capabilities.bounce_bytes = random.number(0, 3) == 0 ? random.number(1, 5000) : 0;
  side.mixed = device && random.number(0, 9) == 0;
  return side;
}

void expect_side_fits(const Side& side, Direction direction, Scheme scheme, std::int64_t chunk,
                      std::int64_t message, const Tuning& tuned) {
  EXPECT_TRUE(is_legal(scheme, side.summary, direction, side.limits, side.capabilities, side.mixed));
  EXPECT_LE(chunk, static_cast<std::int64_t>(side.limits.max_message));
  const bool direct = scheme == Scheme::contiguous || scheme == Scheme::gather;
  if (!direct || side.limits.local_registration || side.summary.memory == MemoryKind::device) {
    EXPECT_LE(chunk, tuned.chunk_bytes);
    EXPECT_LE(chunk, side.capabilities.bounce_bytes > 0 ? side.capabilities.bounce_bytes : chunk);
  }
  if (!direct) return;
  std::vector<LayoutSegment> list(list_length(side.limits, direction));
  for (std::int64_t begin = 0; begin < message; begin += chunk) {
    const PackedRange range{begin, std::min(begin + chunk, message)};
    ASSERT_EQ(list_segments(side.layout, range, list).bytes, range.bytes())
        << name(scheme) << " chunk " << chunk << " list " << list.size() << " " << side.layout.text();
  }
}

TEST(Plan, PlansAreLegalAndTheirChunksFitBothLists) {
  RandomShapes random(20240229);
  std::array<int, scheme_count> used{};
  int gathers_on_both = 0;
  for (int i = 0; i < 4000; ++i) {
    SCOPED_TRACE(i);
    const Side source = random_side(random);
    const Side sink = random_side(random);
    Tuning tuned;
    tuned.chunk_bytes = random.number(1, 1 << random.number(1, 19));
    tuned.chunks_in_flight = static_cast<std::int32_t>(random.number(1, 8));
    if (random.number(0, 2) == 0) tuned.forced = static_cast<Scheme>(random.number(0, scheme_count - 1));
    const Plan plan = make_plan(source.summary, source.limits, source.capabilities, source.mixed,
                                sink.summary, sink.limits, sink.capabilities, sink.mixed, tuned);
    const std::int64_t message = std::min(source.summary.bytes, sink.summary.bytes);
    ASSERT_GE(plan.chunk_bytes, 1);
    EXPECT_GE(plan.chunks_in_flight, 1);
    EXPECT_LE(plan.chunks_in_flight, max_chunks_in_flight);
    expect_side_fits(source, Direction::send, plan.source, plan.chunk_bytes, message, tuned);
    expect_side_fits(sink, Direction::receive, plan.sink, plan.chunk_bytes, message, tuned);
    const bool forced = tuned.forced && is_legal(*tuned.forced, sink.summary, Direction::receive, sink.limits,
                                                 sink.capabilities, sink.mixed);
    EXPECT_EQ(plan.sink, forced ? *tuned.forced : plan.sink);
    ++used[static_cast<std::size_t>(plan.source)];
    gathers_on_both += plan.source == Scheme::gather && plan.sink == Scheme::gather &&
                       source.summary.segments > 40 && sink.summary.segments > 40;
    if (HasFailure()) return;
  }
  for (const int count : used) EXPECT_GT(count, 50);
  EXPECT_GT(gathers_on_both, 20);
}

TEST(RememberedPlans, AreMadeOncePerKindOfMessage) {
  RememberedPlans plans;
  int made = 0;
  const auto chunk = [&](const RememberedPlans::Message& message) {
    return plans.find(message, [&] { return Plan{.chunk_bytes = ++made}; }).chunk_bytes;
  };
  // Never looked into.
  const auto* one = reinterpret_cast<const Peer*>(alignof(std::max_align_t));
  const auto* other = reinterpret_cast<const Peer*>(2 * alignof(std::max_align_t));
  const RememberedPlans::Message first{.peer = one,
                                       .source = face(600, 400, 40000, MemoryKind::host),
                                       .sink = face(240000, 1, 2, MemoryKind::device),
                                       .capabilities = no_gpu};
  std::vector<RememberedPlans::Message> kinds(7, first);
  kinds[1].peer = other;
  kinds[2].source.memory = MemoryKind::device;
  kinds[3].sink.bytes += 8;
  kinds[4].source_mixed = true;
  kinds[5].sink_mixed = true;
  kinds[6].capabilities.kernels = true;
  for (const auto& kind : kinds) {
    const std::int64_t fresh = made + 1;
    EXPECT_EQ(chunk(kind), fresh);
    EXPECT_EQ(chunk(kind), fresh);
  }
}

TEST(Plan, ChoosingAllocatesNothing) {
  const Summary side = face(600, 400, 40000, MemoryKind::device);
  const Limits nic = limits(30, true);
  const std::size_t before = allocation_count();
  static_cast<void>(choose(side, Direction::send, nic, gpu));
  static_cast<void>(make_plan(side, nic, gpu, false, side, nic, gpu, false));
  EXPECT_EQ(allocation_count(), before);
}

class TuningTest : public ::testing::Test {
 protected:
  void set(const char* variable, const char* value) {
    ::setenv(variable, value, 1);
    config::reload();
  }
  void TearDown() override {
    for (const char* variable : {"LATH_SCHEME", "LATH_CHUNK_BYTES", "LATH_CHUNKS_IN_FLIGHT"})
      ::unsetenv(variable);
    config::reload();
    read_tuning();
  }
};

TEST_F(TuningTest, ComesFromTheEnvironment) {
  set("LATH_SCHEME", "host_pack");
  set("LATH_CHUNK_BYTES", "64K");
  set("LATH_CHUNKS_IN_FLIGHT", "7");
  const Tuning read = read_tuning();
  EXPECT_EQ(read.forced, Scheme::host_pack);
  EXPECT_EQ(tuning().forced, Scheme::host_pack);
  EXPECT_EQ(tuning().chunk_bytes, 65536);
  EXPECT_EQ(tuning().chunks_in_flight, 7);
  const Summary one = summarise(Layout::contiguous(1000), MemoryKind::host);
  EXPECT_EQ(choose(one, Direction::send, limits(4), no_gpu), Scheme::host_pack);
}

TEST_F(TuningTest, RefusesValuesThatMakeNoSense) {
  set("LATH_CHUNK_BYTES", "0");
  EXPECT_THROW(read_tuning(), Error);
  set("LATH_CHUNK_BYTES", "64K");
  set("LATH_CHUNKS_IN_FLIGHT", "65");
  EXPECT_THROW(read_tuning(), Error);
}

}  // namespace
}  // namespace lath::transport
