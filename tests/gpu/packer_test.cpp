#include "gpu/packer.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>

#include "datatypes/cursor.hpp"
#include "tests/datatypes/random_type.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace lath::gpu {
namespace {

/// A layout's memory twice, on the host and on the device, with the same bytes.
class Twin {
 public:
  Twin(const Layout& layout, std::mt19937_64& random, std::size_t skew)
      : host_(static_cast<std::size_t>(layout.highest() - layout.lowest()) + skew + 1),
        device_(0, host_.size()),
        origin_(static_cast<std::int64_t>(skew) - layout.lowest()) {
    for (std::size_t i = 0; i < host_.size(); i += sizeof(std::uint64_t)) {
      const std::uint64_t eight = random();
      std::memcpy(&host_[i], &eight, std::min(sizeof eight, host_.size() - i));
    }
    EXPECT_TRUE(is_done(copy_and_wait(device_.data(), host_.data(), host_.size())));
  }
  /// The layout's buffer address; the skew of the two is the same, not their alignment.
  [[nodiscard]] unsigned char* host() { return host_.data() + origin_; }
  [[nodiscard]] unsigned char* device() { return static_cast<unsigned char*>(device_.data()) + origin_; }
  [[nodiscard]] bool equal() const {
    std::vector<unsigned char> now(host_.size());
    EXPECT_TRUE(is_done(copy_and_wait(now.data(), device_.data(), now.size())));
    return now == host_;
  }

 private:
  std::vector<unsigned char> host_;
  DeviceBuffer device_;
  std::int64_t origin_;
};

class Packing : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    packer = std::make_unique<Packer>(0);
    stream = std::make_unique<Stream>(0);
  }

  PackedRange random_range(const Layout& layout) {
    if (random() % 4 == 0) return {0, layout.bytes()};
    const auto bytes = static_cast<std::uint64_t>(layout.bytes());
    const auto a = static_cast<std::int64_t>(random() % (bytes + 1));
    const auto b = static_cast<std::int64_t>(random() % (bytes + 1));
    return {std::min(a, b), std::max(a, b)};
  }

  void check_pack(const Layout& layout, PackedRange range) {
    Twin memory(layout, random, random() % 32);
    const auto bytes = static_cast<std::size_t>(range.bytes());
    const auto shift = random() % 32;
    DeviceBuffer packed(0, bytes + shift + 1);
    auto* const target = static_cast<unsigned char*>(packed.data()) + shift;
    ASSERT_TRUE(is_done(packer->pack(layout, memory.device(), range, target, *stream)));
    ASSERT_TRUE(is_done(stream->synchronize()));
    std::vector<unsigned char> expected(bytes);
    lath::pack(layout, memory.host(), range, expected.data());
    ASSERT_EQ(download(target, bytes), expected) << layout.text() << " " << range.begin << " " << range.end;
  }

  // The packed side in pinned host memory, which kernels write and read as well.
  void check_unpack(const Layout& layout, PackedRange range) {
    Twin memory(layout, random, random() % 32);
    const auto bytes = static_cast<std::size_t>(range.bytes());
    const PinnedBuffer packed(0, bytes + 1);
    for (std::size_t i = 0; i < bytes; ++i) packed.data()[i] = static_cast<std::byte>(random());
    ASSERT_TRUE(is_done(packer->unpack(layout, memory.device(), range, packed.data(), *stream)));
    ASSERT_TRUE(is_done(stream->synchronize()));
    lath::unpack(layout, memory.host(), range, packed.data());
    ASSERT_TRUE(memory.equal()) << layout.text() << " " << range.begin << " " << range.end;
  }

  void check_both(const Layout& layout) {
    check_pack(layout, {0, layout.bytes()});
    check_unpack(layout, {0, layout.bytes()});
    for (int i = 0; i < 3; ++i) {
      check_pack(layout, random_range(layout));
      check_unpack(layout, random_range(layout));
    }
  }

  std::mt19937_64 random{42};
  std::unique_ptr<Packer> packer;
  std::unique_ptr<Stream> stream;
};

Datatype basic(Basic type) {
  return Datatype::basic(type);
}

/// Irregular displacements of `count` blocks of one int, with room between them.
Layout irregular(std::int64_t count, std::int64_t skip) {
  std::vector<std::int64_t> displacements(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    displacements[static_cast<std::size_t>(i)] = skip * i + (i * i) % (skip - 1);
  return Layout::of(Datatype::indexed_block(1, displacements, basic(Basic::int_)), 1);
}

TEST_F(Packing, RandomTypesPackAsOnTheHost) {
  RandomType types(7);
  for (int i = 0; i < 150; ++i) {
    const Layout layout = Layout::of(types.next(), 1 + static_cast<std::int64_t>(random() % 3));
    check_pack(layout, random_range(layout));
  }
}

TEST_F(Packing, RandomTypesUnpackAsOnTheHost) {
  RandomType types(8, {.depth = 5, .max_elements = 400, .overlap = false});
  for (int i = 0; i < 150; ++i) {
    const Layout layout = Layout::of(types.next(), 1);
    check_unpack(layout, random_range(layout));
  }
}

TEST_F(Packing, EveryWordSizeAndRank) {
  for (const Basic type :
       {Basic::char_, Basic::short_, Basic::int_, Basic::double_, Basic::c_double_complex}) {
    Datatype nest = Datatype::vector(3, 2, 5, basic(type));
    check_both(Layout::of(nest, 1));
    for (int rank = 2; rank <= 10; ++rank) {
      nest = Datatype::hvector(2, 1, nest.extent() + 48, nest);
      check_both(Layout::of(nest, 1));
    }
  }
}

TEST_F(Packing, BL02_StridesThatAreNoMultipleOfTheBlock) {
  check_both(Layout::of(Datatype::contiguous(3, Datatype::resized(0, 6, basic(Basic::int_))), 5));
  check_both(Layout::of(Datatype::hvector(100, 2, 17, basic(Basic::double_)), 1));
}

TEST_F(Packing, BL06_NegativeStridesAndUnsortedBlocks) {
  check_both(Layout::of(Datatype::vector(64, 1, -1, basic(Basic::int_)), 1));
  const std::vector<std::int64_t> lengths{1, 1, 1};
  const std::vector<std::int64_t> places{8, 0, 4};
  check_both(Layout::of(Datatype::hindexed(lengths, places, basic(Basic::int_)), 1));
}

TEST_F(Packing, BL07_OverlappingBlocksAreRepeated) {
  const std::vector<std::int64_t> lengths{2, 2, 1, 3};
  const std::vector<std::int64_t> places{0, 1, 2, 4};
  const auto layout = Layout::of(Datatype::indexed(lengths, places, basic(Basic::int_)), 1);
  check_pack(layout, {0, layout.bytes()});
}

TEST_F(Packing, BL21_FragmentsOfEverySizeEqualTheWhole) {
  const std::vector<std::int64_t> ones{1, 1};
  const std::vector<std::int64_t> places{0, 8};
  const std::vector<Datatype> members{basic(Basic::int_), basic(Basic::uint64)};
  for (const auto& layout : {Layout::of(Datatype::vector(40, 3, 5, basic(Basic::double_)), 1),
                             Layout::of(Datatype::struct_(ones, places, members), 80)}) {
    Twin memory(layout, random, 0);
    const auto bytes = static_cast<std::size_t>(layout.bytes());
    std::vector<unsigned char> expected(bytes);
    lath::pack(layout, memory.host(), {0, layout.bytes()}, expected.data());
    const DeviceBuffer packed(0, bytes);
    const ContextGuard guard(0);
    for (std::int64_t size = 1; size <= 257; size += size < 20 ? 1 : 59) {
      ASSERT_EQ(driver()->cuMemsetD8Async(pointer(packed.data()), 0, bytes, stream->get()), CUDA_SUCCESS);
      for (std::int64_t at = 0; at < layout.bytes(); at += size) {
        const PackedRange range{at, std::min(at + size, layout.bytes())};
        ASSERT_TRUE(is_done(packer->pack(layout, memory.device(), range,
                                         static_cast<unsigned char*>(packed.data()) + at, *stream)));
      }
      ASSERT_TRUE(is_done(stream->synchronize()));
      ASSERT_EQ(download(packed.data(), bytes), expected) << "fragments of " << size;
    }
  }
}

TEST_F(Packing, TablesLongerThanOneList) {
  const Layout layout = irregular(150000, 7);
  check_both(layout);
}

TEST_F(Packing, SequencesLongerThanOneList) {
  const std::vector<std::int64_t> lengths{1, 1, 1};
  const std::vector<std::int64_t> places{0, 12, 20};
  const Datatype few = Datatype::resized(0, 36, Datatype::hindexed(lengths, places, basic(Basic::short_)));
  const Layout layout = Layout::of(Datatype::hvector(300, 100, 5000, few), 1);
  ASSERT_GT(layout.segment_count(), 65536);
  check_both(layout);
}

TEST_F(Packing, EmptyRangesAndWrongOnes) {
  const Layout layout = Layout::of(Datatype::vector(3, 1, 2, basic(Basic::int_)), 1);
  EXPECT_TRUE(is_done(packer->pack(layout, nullptr, {4, 4}, nullptr, *stream)));
  EXPECT_TRUE(is_done(packer->pack(Layout::contiguous(0), nullptr, {0, 0}, nullptr, *stream)));
  for (const PackedRange range : {PackedRange{-1, 4}, PackedRange{8, 4}, PackedRange{0, 13}}) {
    const Result refused = packer->pack(layout, nullptr, range, nullptr, *stream);
    ASSERT_TRUE(refused.is_error());
    EXPECT_EQ(refused.error().lath_code(), Code::invalid_argument);
  }
}

std::uint64_t calls_of(const std::function<void()>& body) {
  const auto before = driver_counts().calls.load();
  body();
  return driver_counts().calls.load() - before;
}

TEST_F(Packing, BL33_AMillionBlocksTakeOneDriverCall) {
  const Layout layout = Layout::of(Datatype::vector(1000000, 1, 2, basic(Basic::int_)), 1);
  const DeviceBuffer user(0, 8000000);
  const DeviceBuffer packed(0, 4000000);
  EXPECT_EQ(calls_of([&] {
              EXPECT_TRUE(is_done(packer->pack(layout, user.data(), {0, 4000000}, packed.data(), *stream)));
            }),
            1U);
  EXPECT_EQ(calls_of([&] {
              EXPECT_TRUE(is_done(packer->unpack(layout, user.data(), {0, 4000000}, packed.data(), *stream)));
            }),
            1U);
  EXPECT_TRUE(is_done(stream->synchronize()));
}

TEST_F(Packing, BL33_AMillionIrregularBlocksTakeAFewCallsAChunk) {
  const Layout layout = irregular(1000000, 3);
  const DeviceBuffer user(0, 12000016);
  const DeviceBuffer packed(0, 4000000);
  constexpr std::int64_t chunk = 512 << 10;
  const auto pack_chunks = [&] {
    for (std::int64_t at = 0; at < layout.bytes(); at += chunk)
      EXPECT_TRUE(is_done(packer->pack(layout, user.data(), {at, std::min(at + chunk, layout.bytes())},
                                       static_cast<char*>(packed.data()) + at, *stream)));
    EXPECT_TRUE(is_done(stream->synchronize()));
  };
  // Making the lists allocates; once they are there, a chunk of 128 Ki blocks takes three lists.
  pack_chunks();
  EXPECT_LE(calls_of(pack_chunks), 8U * 3U * 2U + 1U);
}

TEST_F(Packing, ListsAreUploadedOnce) {
  const Layout layout = irregular(1000, 5);
  Twin memory(layout, random, 0);
  const DeviceBuffer packed(0, 4000);
  const auto pack = [&](PackedRange range, Stream& on) {
    return calls_of(
        [&] { EXPECT_TRUE(is_done(packer->pack(layout, memory.device(), range, packed.data(), on))); });
  };
  pack({0, 4000}, *stream);
  EXPECT_EQ(pack({0, 4000}, *stream), 2U) << "launch and record";
  EXPECT_EQ(pack({123, 3001}, *stream), 2U) << "whatever the range";
  Stream other(0);
  EXPECT_EQ(pack({0, 4000}, other), 3U) << "another stream waits for the first";
  EXPECT_TRUE(is_done(other.synchronize()));
  EXPECT_GT(packer->memory_bytes(), 0U);
  EXPECT_LE(packer->memory_bytes(), Packer::memory_limit_bytes());
}

/// Holds a stream up until opened.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;

  static void wait(void* gate) {
    auto& self = *static_cast<Gate*>(gate);
    std::unique_lock lock(self.mutex);
    self.changed.wait(lock, [&] { return self.is_open; });
  }
  void open() {
    const std::lock_guard lock(mutex);
    is_open = true;
    changed.notify_all();
  }
};

TEST_F(Packing, AgainWhileAllListsAreInUse) {
  const DeviceBuffer user(0, 1 << 20);
  const DeviceBuffer packed(0, 1 << 20);
  Gate gate;
  const ContextGuard guard(0);
  ASSERT_EQ(driver()->cuLaunchHostFunc(stream->get(), Gate::wait, &gate), CUDA_SUCCESS);
  int accepted = 0;
  Result last = Result::done();
  while (last.is_done() && accepted < 1000) {
    const Layout layout = irregular(10 + accepted, 5);
    last = packer->pack(layout, user.data(), {0, layout.bytes()}, packed.data(), *stream);
    accepted += last.is_done() ? 1 : 0;
  }
  EXPECT_TRUE(last.is_again()) << message(last);
  EXPECT_EQ(accepted, 64);
  const Layout next = irregular(900, 5);
  EXPECT_TRUE(packer->pack(next, user.data(), {0, next.bytes()}, packed.data(), *stream).is_again());
  gate.open();
  ASSERT_TRUE(is_done(stream->synchronize()));
  EXPECT_TRUE(is_done(packer->pack(next, user.data(), {0, next.bytes()}, packed.data(), *stream)));
  EXPECT_TRUE(is_done(stream->synchronize()));
}

TEST_F(Packing, MoreLayoutsThanListsStayRight) {
  for (int round = 0; round < 2; ++round)
    for (std::int64_t i = 0; i < 80; ++i) check_pack(irregular(20 + i, 5), {0, 4 * (20 + i)});
}

TEST_F(Packing, DriverFailuresAreReportedAndLeaveThePackerUsable) {
  if (!availability().emulated) GTEST_SKIP() << "failures can be injected into the emulator only";
  auto& fail = LATH_EMULATOR_CONTROL(lath_emulator_fail);
  const Layout layout = irregular(100, 5);
  Twin memory(layout, random, 0);
  const DeviceBuffer packed(0, 400);
  const auto pack = [&] { return packer->pack(layout, memory.device(), {0, 400}, packed.data(), *stream); };
  for (const char* function : {"cuMemHostAlloc", "cuMemAlloc_v2", "cuEventCreate", "cuMemcpyAsync"}) {
    fail(function, 1, 1, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_TRUE(pack().is_error()) << function;
  }
  for (const char* function : {"cuLaunchKernel", "cuEventRecord"}) {
    fail(function, 1, 1, CUDA_ERROR_UNKNOWN);
    EXPECT_TRUE(pack().is_error()) << function;
  }
  EXPECT_TRUE(is_done(pack()));
  ASSERT_TRUE(is_done(stream->synchronize()));
  check_pack(layout, {0, 400});
}

}  // namespace
}  // namespace lath::gpu
