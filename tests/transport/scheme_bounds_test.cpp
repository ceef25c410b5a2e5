#include <sys/mman.h>

#include "tests/transport/scheme_fixture.hpp"
#include "transport/schemes/chunk_pool.hpp"

namespace lath::transport {
namespace {

using providers::MemoryKind;

#define LATH_NEEDS_GPU() \
  if (!gpu::availability().available) GTEST_SKIP() << "no GPU is in use: " << gpu::availability().reason

Layout ints(std::int64_t count, std::int64_t stride) {
  return Layout::of(Datatype::vector(count, 1, stride, Datatype::basic(Basic::int_)), 1);
}

class SchemeBounds : public ::testing::Test {
 protected:
  SchemeFactory& factory() {
    if (!factory_) factory_.emplace(provider_, counters_);
    return *factory_;
  }
  std::unique_ptr<Source> source(Scheme scheme, const Buffer& buffer) {
    return factory().source(scheme, buffer, why_);
  }
  std::unique_ptr<Sink> sink(Scheme scheme, const Buffer& buffer) {
    return factory().sink(scheme, buffer, why_);
  }
  static void wait_ready(Source& source, Slot& slot) {
    Result ready = source.ready(slot);
    for (; ready.is_again(); ready = source.ready(slot)) std::this_thread::yield();
    ASSERT_TRUE(ready.is_done());
  }
  static void wait_finished(Sink& sink, Slot& slot, std::int64_t bytes) {
    Result result = sink.arrived(slot, bytes);
    for (; result.is_again(); result = sink.arrived(slot, bytes)) std::this_thread::yield();
    ASSERT_TRUE(result.is_done());
    for (result = sink.finished(slot); result.is_again(); result = sink.finished(slot))
      std::this_thread::yield();
    ASSERT_TRUE(result.is_done());
  }
  /// Packs a whole message in equal chunks, one after the other, and gives its packed bytes.
  std::vector<std::byte> packed(Source& source, std::int64_t bytes, std::int64_t chunk) {
    ListCopier copier(provider_);
    std::vector<std::byte> out;
    for (std::int64_t begin = 0; begin < bytes; begin += chunk) {
      Slot slot;
      EXPECT_TRUE(source.begin({begin, std::min(begin + chunk, bytes)}, slot).is_done());
      wait_ready(source, slot);
      const auto part = copier.read(slot.list);
      out.insert(out.end(), part.begin(), part.end());
      source.release(slot);
    }
    return out;
  }

  RegistrationProvider provider_;
  Counters counters_;
  Environment environment_;
  std::unique_ptr<Error> why_;
  std::optional<SchemeFactory> factory_;
};

TEST_F(SchemeBounds, IllegalSchemesSayWhy) {
  std::vector<int> memory(100);
  EXPECT_FALSE(source(Scheme::contiguous, {memory.data(), ints(10, 2)}));
  ASSERT_TRUE(why_);
  EXPECT_EQ(why_->lath_code(), Code::not_supported);
  EXPECT_NE(std::string(why_->what()).find("contiguous: 10 segments are not one block"), std::string::npos);
  why_.reset();
  EXPECT_FALSE(sink(Scheme::device_pack, {memory.data(), ints(10, 2)}));
  ASSERT_TRUE(why_);
  EXPECT_EQ(why_->lath_code(), Code::not_supported);
}

TEST_F(SchemeBounds, TooLongAChunkIsAnError) {
  environment_.set("LATH_CHUNK_BYTES", "64");
  std::vector<int> memory(200);
  const Buffer buffer{memory.data(), ints(100, 2)};
  Slot slot;
  EXPECT_TRUE(source(Scheme::host_pack, buffer)->begin({0, 65}, slot).is_error());
  EXPECT_TRUE(source(Scheme::gather, buffer)->begin({0, 20}, slot).is_error());
  EXPECT_TRUE(source(Scheme::gather, buffer)->begin({0, 16}, slot).is_done());
}

TEST_F(SchemeBounds, ExhaustedPoolsAnswerAgainAndRecover) {
  environment_.set("LATH_CHUNK_BYTES", "256");
  std::vector<int> memory(200);
  const Buffer buffer{memory.data(), ints(100, 2)};
  for (const Scheme scheme : {Scheme::host_pack, Scheme::staged, Scheme::gather}) {
    SCOPED_TRACE(name(scheme));
    const auto sink_side = sink(scheme, buffer);
    const auto source_side = source(scheme, buffer);
    const PackedRange range{0, 16};
    std::vector<Slot> out;
    for (Slot slot; sink_side->begin(range, slot).is_done(); slot = {}) {
      out.push_back(slot);
      ASSERT_LT(out.size(), 10000U);
    }
    // Receives may hold most of the memory, but sends still get theirs.
    std::vector<Slot> sending;
    for (Slot slot; source_side->begin(range, slot).is_done(); slot = {}) sending.push_back(slot);
    EXPECT_GE(sending.size(), out.size() / 4);
    const std::size_t held = factory().memory_bytes();
    EXPECT_LE(held, factory().memory_limit_bytes());

    sink_side->release(out.back());
    EXPECT_TRUE(sink_side->begin(range, out.back()).is_done());
    Slot none;
    EXPECT_TRUE(sink_side->begin(range, none).is_again());
    for (Slot& slot : out) sink_side->release(slot);
    for (Slot& slot : sending) source_side->release(slot);
    EXPECT_TRUE(sink_side->begin(range, none).is_done());
    sink_side->release(none);
    EXPECT_EQ(factory().memory_bytes(), held);
  }
}

TEST_F(SchemeBounds, ExhaustedDevicePoolsAnswerAgainAndRecover) {
  LATH_NEEDS_GPU();
  environment_.set("LATH_CHUNK_BYTES", "256");
  const TestMemory memory(Kind::device, 800);
  const Buffer buffer{memory.data(), ints(100, 2)};
  for (const Scheme scheme : {Scheme::device_pack, Scheme::host_pack, Scheme::staged}) {
    SCOPED_TRACE(name(scheme));
    const auto side = source(scheme, buffer);
    ASSERT_TRUE(side) << why_->what();
    std::vector<Slot> out;
    for (Slot slot; side->begin({0, 16}, slot).is_done(); slot = {}) out.push_back(slot);
    EXPECT_GE(out.size(), 12U);
    for (Slot& slot : out) side->release(slot);  // without having been ready: waits for the kernels
    Slot again;
    ASSERT_TRUE(side->begin({0, 16}, again).is_done());
    wait_ready(*side, again);
    side->release(again);
  }
}

TEST_F(SchemeBounds, CountsPassesAMessageAndBytesThroughHostMemory) {
  environment_.set("LATH_CHUNK_BYTES", "64");
  std::vector<int> memory(200);
  const Buffer buffer{memory.data(), ints(100, 2)};
  const auto side = source(Scheme::host_pack, buffer);
  packed(*side, 400, 64);
  packed(*side, 400, 64);  // as a persistent request does
  EXPECT_EQ(counters_.pack_copies, 2U);
  EXPECT_EQ(counters_.staged_bytes, 800U);
  packed(*source(Scheme::gather, buffer), 400, 16);
  EXPECT_EQ(counters_.pack_copies, 2U);
  EXPECT_EQ(counters_.staged_bytes, 800U);
}

TEST_F(SchemeBounds, CountsPassesOverDeviceData) {
  LATH_NEEDS_GPU();
  environment_.set("LATH_CHUNK_BYTES", "64");
  const TestMemory memory(Kind::device, 800);
  const Buffer buffer{memory.data(), ints(100, 2)};
  packed(*source(Scheme::device_pack, buffer), 400, 64);
  EXPECT_EQ(counters_.pack_copies, 1U);
  EXPECT_EQ(counters_.staged_bytes, 0U);
  packed(*source(Scheme::host_pack, buffer), 400, 64);
  EXPECT_EQ(counters_.pack_copies, 2U);
  EXPECT_EQ(counters_.staged_bytes, 400U);
  packed(*source(Scheme::staged, buffer), 400, 64);
  EXPECT_EQ(counters_.pack_copies, 4U);
  EXPECT_EQ(counters_.staged_bytes, 800U);
}

TEST_F(SchemeBounds, BL33_DriverCallsDoNotGrowWithBlocks) {
  LATH_NEEDS_GPU();
  const std::int64_t count = 1000000;
  const std::int64_t bytes = 4 * count;
  const std::int64_t chunk = 512 * 1024;
  const std::uint64_t chunks = static_cast<std::uint64_t>((bytes - 1) / chunk + 1);
  const TestMemory memory(Kind::device, static_cast<std::size_t>(8 * count));
  const Buffer buffer{memory.data(), ints(count, 2)};
  for (const Scheme scheme : {Scheme::device_pack, Scheme::host_pack, Scheme::staged}) {
    SCOPED_TRACE(name(scheme));
    const auto from = source(scheme, buffer);
    const auto to = sink(scheme, buffer);
    for (int pass = 0; pass < 2; ++pass) {
      // The first message warms the pools up; the second may not even allocate.
      const std::uint64_t before = gpu::driver_counts().calls;
      const std::size_t held = factory().memory_bytes();
      for (std::int64_t begin = 0; begin < bytes; begin += chunk) {
        const PackedRange range{begin, std::min(begin + chunk, bytes)};
        Slot slot;
        ASSERT_TRUE(from->begin(range, slot).is_done());
        wait_ready(*from, slot);
        from->release(slot);
        ASSERT_TRUE(to->begin(range, slot).is_done());
        wait_finished(*to, slot, range.bytes());
        to->release(slot);
      }
      if (pass == 0) continue;
      const std::uint64_t calls = gpu::driver_counts().calls - before;
      // Each way a launch, a record, and where staged a copy.
      EXPECT_LE(calls, chunks * (scheme == Scheme::staged ? 6U : 4U));
      EXPECT_EQ(factory().memory_bytes(), held);
    }
  }
}

TEST_F(SchemeBounds, BL41_AnyRefusedRegistrationFallsBackWithoutLeaks) {
  environment_.set("LATH_CHUNK_BYTES", "256");
  provider_.granted.local_registration = true;
  RandomShapes random(5);
  const bool has_gpu = gpu::availability().available;
  for (const Kind kind : {Kind::host, Kind::device}) {
    if (kind == Kind::device && !has_gpu) continue;
    const Shape form = RandomShapes(3).shape(2).repeated(3);
    const TestBuffer test(form, kind, random);
    const Summary summary = summarise(test.layout, on_device(kind) ? MemoryKind::device : MemoryKind::host);
    for (std::uint64_t k = 1; k <= 8; ++k) {
      SCOPED_TRACE(text(kind) + " refusing registration " + std::to_string(k));
      provider_.refused = {k};
      provider_.asked = 0;
      factory_.emplace(provider_, counters_);
      for (const Scheme wanted :
           {Scheme::contiguous, Scheme::gather, Scheme::device_pack, Scheme::host_pack}) {
        if (!is_legal(wanted, summary, Direction::send, provider_.granted, factory().capabilities()))
          continue;
        Scheme scheme = wanted;
        auto side = source(scheme, test.buffer());
        for (int tries = 0; !side && tries < 3; ++tries) {
          ASSERT_TRUE(why_);
          scheme = fallback(scheme, summary, factory().capabilities());
          side = source(scheme, test.buffer());
        }
        ASSERT_TRUE(side) << why_->what();
        const bool rigid = scheme == Scheme::gather && test.layout.segment_count() > 4;
        const auto bytes = packed(*side, test.layout.bytes(), rigid ? 4 * test.layout.uniform_block() : 200);
        for (std::size_t i = 0; i < bytes.size(); ++i)
          ASSERT_EQ(bytes[i], test.contents[test.index(form.bytes[i])]);
      }
      factory_.reset();
      EXPECT_EQ(provider_.alive, 0U);
    }
  }
}

TEST_F(SchemeBounds, BL41_AllRegistrationsRefusedIsAnError) {
  provider_.granted.local_registration = true;
  provider_.refuse_all = true;
  std::vector<int> memory(200);
  const Buffer buffer{memory.data(), ints(100, 2)};
  for (const Scheme scheme : {Scheme::gather, Scheme::host_pack, Scheme::staged}) {
    EXPECT_FALSE(source(scheme, buffer));
    ASSERT_TRUE(why_);
    EXPECT_EQ(why_->lath_code(), Code::no_memory);
    why_.reset();
  }
  provider_.refuse_all = false;
  EXPECT_TRUE(source(Scheme::host_pack, buffer)) << "a refusal is not for ever";
}

TEST_F(SchemeBounds, BL41_RefusedSpanIsRegisteredSegmentBySegment) {
  provider_.granted.local_registration = true;
  provider_.refused = {1};
  std::vector<int> memory(200);
  const auto side = source(Scheme::gather, {memory.data(), ints(3, 20)});
  ASSERT_TRUE(side);
  EXPECT_EQ(provider_.alive, 3U);
  provider_.asked = 0;
  provider_.refused = {1, 3};
  std::vector<int> other(200);
  EXPECT_FALSE(source(Scheme::gather, {other.data(), ints(3, 20)}));
  EXPECT_EQ(provider_.alive, 3U) << "those made before the refusal are gone";
}

TEST_F(SchemeBounds, BL45_SendingAsksForNoWriteAccess) {
  provider_.granted.local_registration = true;
  const std::size_t bytes = 1 << 20;
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Layout layout = Layout::of(Datatype::vector(1024, 64, 128, Datatype::basic(Basic::byte_)), 1);
  {
    const auto side = source(Scheme::gather, {memory, layout});
    ASSERT_TRUE(side);
    ASSERT_EQ(provider_.made.size(), 1U);
    EXPECT_FALSE(provider_.made[0].writable);
    const auto copied = source(Scheme::host_pack, {memory, layout});
    EXPECT_EQ(packed(*copied, layout.bytes(), layout.bytes()),
              std::vector<std::byte>(static_cast<std::size_t>(layout.bytes())));
  }
  const auto receiving = sink(Scheme::gather, {memory, layout});
  EXPECT_TRUE(provider_.made.back().writable);
  ::munmap(memory, bytes);
}

TEST_F(SchemeBounds, PlacementWithoutAGpuIsHost) {
  if (gpu::availability().available) GTEST_SKIP() << "a GPU is in use";
  std::vector<int> memory(8);
  const auto placement = factory().placement({memory.data(), ints(2, 2)});
  EXPECT_EQ(placement.memory, MemoryKind::host);
  EXPECT_FALSE(placement.mixed);
  EXPECT_FALSE(factory().capabilities().gpu);
  EXPECT_FALSE(factory().capabilities().kernels);
}

TEST_F(SchemeBounds, PlacementKnowsEveryKind) {
  LATH_NEEDS_GPU();
  for (const Kind kind : {Kind::host, Kind::pinned, Kind::managed, Kind::device, Kind::pool}) {
    SCOPED_TRACE(text(kind));
    const TestMemory memory(kind, 8192);
    for (const std::int64_t count : {1, 3, 500}) {
      const auto placement = factory().placement({memory.data() + 64, ints(count, 3)});
      EXPECT_EQ(placement.memory, on_device(kind) ? MemoryKind::device : MemoryKind::host);
      EXPECT_EQ(placement.device, on_device(kind) ? 0 : -1);
      EXPECT_FALSE(placement.mixed);
    }
  }
}

/// Absolute addresses as displacements, the buffer argument null.
Buffer at_addresses(const std::vector<const std::byte*>& addresses, std::int64_t block) {
  std::vector<std::int64_t> displacements;
  for (const std::byte* address : addresses)
    displacements.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)));
  const std::vector<std::int64_t> lengths(addresses.size(), block);
  return {nullptr, Layout::of(Datatype::hindexed(lengths, displacements, Datatype::basic(Basic::byte_)), 1)};
}

TEST_F(SchemeBounds, BL17_AbsoluteAddressesInHostMemory) {
  int seven = 7;
  int eight = 8;
  const Buffer buffer =
      at_addresses({reinterpret_cast<std::byte*>(&seven), reinterpret_cast<std::byte*>(&eight)}, sizeof(int));
  EXPECT_EQ(factory().placement(buffer).memory, MemoryKind::host);
  for (const Scheme scheme : {Scheme::gather, Scheme::host_pack, Scheme::staged}) {
    const auto side = source(scheme, buffer);
    ASSERT_TRUE(side) << why_->what();
    const auto bytes = packed(*side, 8, 8);
    int values[2];
    std::memcpy(values, bytes.data(), sizeof values);
    EXPECT_EQ(values[0], 7);
    EXPECT_EQ(values[1], 8);
  }
}

TEST_F(SchemeBounds, BL17_HostAndDeviceSegmentsInOneType) {
  LATH_NEEDS_GPU();
  const TestMemory device(Kind::device, 4096);
  const TestMemory pinned(Kind::pinned, 4096);
  std::vector<std::byte> host(4096);
  std::vector<const std::byte*> addresses;
  for (std::size_t i = 0; i < 100; ++i) {
    const std::byte* bases[] = {host.data(), device.data(), pinned.data()};
    addresses.push_back(bases[i % 3] + 40 * i);
  }
  const Buffer buffer = at_addresses(addresses, 8);
  const auto placement = factory().placement(buffer);
  EXPECT_TRUE(placement.mixed);
  EXPECT_EQ(placement.memory, MemoryKind::device);
  EXPECT_FALSE(source(Scheme::host_pack, buffer));

  std::vector<std::byte> sent(800);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7);
  const auto to = sink(Scheme::staged, buffer);
  ASSERT_TRUE(to) << why_->what();
  Slot slot;
  ASSERT_TRUE(to->begin({0, 800}, slot).is_done());
  std::memcpy(slot.list[0].address, sent.data(), sent.size());
  wait_finished(*to, slot, 800);
  to->release(slot);
  const auto from = source(Scheme::staged, buffer);
  EXPECT_EQ(packed(*from, 800, 123), sent);
  const auto moved = device.contents();
  EXPECT_EQ(std::memcmp(moved.data() + 40, sent.data() + 8, 8), 0);
}

TEST_F(SchemeBounds, BL17_ManyAddressesOfOneDeviceAreNotMixed) {
  LATH_NEEDS_GPU();
  const TestMemory one(Kind::device, 4096);
  const TestMemory other(Kind::pool, 4096);
  std::vector<const std::byte*> addresses;
  for (std::size_t i = 0; i < 100; ++i) addresses.push_back((i % 2 == 0 ? one : other).data() + 40 * i);
  const Buffer buffer = at_addresses(addresses, 8);
  EXPECT_EQ(factory().placement(buffer).memory, MemoryKind::device);
  EXPECT_FALSE(factory().placement(buffer).mixed);
  EXPECT_EQ(packed(*source(Scheme::host_pack, buffer), 800, 800).size(), 800U);
}

TEST_F(SchemeBounds, BL40_SeveralDevices) {
  LATH_NEEDS_GPU();
  if (gpu::availability().device_count < 2) GTEST_SKIP() << "only one device";
  const TestMemory first(Kind::device, 4096, 0);
  const TestMemory second(Kind::device, 4096, 1);
  second.fill(std::vector<std::byte>(4096, std::byte{9}));
  const Buffer buffer{second.data(), ints(100, 3)};
  EXPECT_EQ(factory().placement(buffer).device, 1);
  EXPECT_EQ(packed(*source(Scheme::host_pack, buffer), 400, 400), std::vector<std::byte>(400, std::byte{9}));
  EXPECT_TRUE(factory().placement(at_addresses({first.data(), second.data()}, 8)).mixed);
}

TEST_F(SchemeBounds, HostDataTouchesNoGpu) {
  LATH_NEEDS_GPU();
  std::vector<int> memory(200);
  const Buffer buffer{memory.data(), ints(100, 2)};
  const std::uint64_t before = gpu::driver_counts().calls;
  packed(*source(Scheme::host_pack, buffer), 400, 400);
  // The test's own reader makes and ends a stream; nothing else may be counted.
  const std::uint64_t after = gpu::driver_counts().calls;
  EXPECT_LE(after - before, 2U);
}

}  // namespace
}  // namespace lath::transport
