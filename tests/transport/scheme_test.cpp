#include "transport/scheme.hpp"

#include "tests/transport/scheme_fixture.hpp"

namespace lath::transport {
namespace {

struct Case {
  Kind kind;
  Scheme scheme;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Kind kind : {Kind::host, Kind::pinned, Kind::managed, Kind::device, Kind::pool})
    for (std::size_t scheme = 0; scheme < scheme_count; ++scheme)
      if (static_cast<Scheme>(scheme) != Scheme::device_pack || on_device(kind))
        out.push_back({kind, static_cast<Scheme>(scheme)});
  return out;
}

/// A chunk on its way.
struct Flight {
  enum class Step { begin, move, wait, gone };
  PackedRange range;
  Slot slot;
  Step step = Step::begin;
};

class SchemeTest : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr std::int64_t bounce_bytes = 600;

  void SetUp() override {
    if (GetParam().kind != Kind::host && !gpu::availability().available)
      GTEST_SKIP() << "no GPU is in use: " << gpu::availability().reason;
    environment_.set("LATH_CHUNK_BYTES", std::to_string(bounce_bytes));
  }

  /// A shape that the scheme may move.
  Shape shape() {
    if (GetParam().scheme == Scheme::contiguous) return random_.shape(0).repeated(random_.number(1, 300));
    while (true) {
      Shape out = random_.shape(static_cast<int>(random_.number(1, 3))).repeated(random_.number(1, 5));
      const Layout layout = Layout::of(out.type, 1);
      if (layout.bytes() > 40000) continue;
      if (GetParam().scheme != Scheme::gather || layout.uniform_block() > 0 || layout.segment_count() <= 4)
        return out;
    }
  }

  /// Cuts a message at random: anywhere where the scheme packs or its segments fit one list, else as a plan
  /// does.
  std::vector<Flight> cut(const Layout& layout) {
    const bool direct = GetParam().scheme == Scheme::contiguous || GetParam().scheme == Scheme::gather;
    std::int64_t most = direct ? std::max<std::int64_t>(layout.bytes(), 1) : bounce_bytes;
    const bool planned = direct && layout.segment_count() > 4;
    if (planned) most = 4 * layout.uniform_block();
    std::vector<Flight> out;
    for (std::int64_t begin = 0; begin < layout.bytes();) {
      const std::int64_t end = std::min(layout.bytes(), begin + (planned ? most : random_.number(1, most)));
      out.push_back({{begin, end}, {}, Flight::Step::begin});
      begin = end;
    }
    std::shuffle(out.begin(), out.end(), random_.engine());
    return out;
  }

  /// Runs all chunks to their end, several at once, in random order.
  template <class Advance>
  void run(std::vector<Flight>& flights, const Advance& advance) {
    std::vector<Flight*> active;
    std::size_t next = 0;
    while (next < flights.size() || !active.empty()) {
      if (next < flights.size() && active.size() < 6) active.push_back(&flights[next++]);
      const auto at =
          static_cast<std::size_t>(random_.number(0, static_cast<std::int64_t>(active.size()) - 1));
      advance(*active[at]);
      if (HasFailure()) return;
      if (active[at]->step == Flight::Step::gone)
        active.erase(active.begin() + static_cast<std::ptrdiff_t>(at));
      else if (next == flights.size())
        std::this_thread::yield();
    }
  }

  void expect_source_packs(SchemeFactory& factory, ListCopier& copier) {
    const Shape form = shape();
    const TestBuffer test(form, GetParam().kind, random_);
    std::unique_ptr<Error> why;
    const auto source = factory.source(GetParam().scheme, test.buffer(), why);
    ASSERT_TRUE(source) << why->what();
    EXPECT_EQ(source->scheme(), GetParam().scheme);
    std::vector<std::byte> packed(form.bytes.size());
    auto flights = cut(test.layout);
    run(flights, [&](Flight& flight) {
      if (flight.step == Flight::Step::begin) {
        const Result begun = source->begin(flight.range, flight.slot);
        ASSERT_FALSE(begun.is_error()) << begun.error().what();
        if (begun.is_done()) flight.step = Flight::Step::wait;
        return;
      }
      const Result ready = source->ready(flight.slot);
      ASSERT_FALSE(ready.is_error()) << ready.error().what();
      if (!ready.is_done()) return;
      const auto bytes = copier.read(flight.slot.list);
      ASSERT_EQ(static_cast<std::int64_t>(bytes.size()), flight.range.bytes());
      std::copy(bytes.begin(), bytes.end(), packed.begin() + flight.range.begin);
      source->release(flight.slot);
      flight.step = Flight::Step::gone;
    });
    for (std::size_t i = 0; i < packed.size(); ++i)
      ASSERT_EQ(packed[i], test.contents[test.index(form.bytes[i])])
          << "packed byte " << i << " of " << test.layout.text();
    EXPECT_EQ(test.memory.contents(), test.contents);
  }

  void expect_sink_unpacks(SchemeFactory& factory, ListCopier& copier) {
    const Shape form = shape();
    TestBuffer test(form, GetParam().kind, random_);
    std::unique_ptr<Error> why;
    const auto sink = factory.sink(GetParam().scheme, test.buffer(), why);
    ASSERT_TRUE(sink) << why->what();
    EXPECT_EQ(sink->scheme(), GetParam().scheme);
    std::vector<std::byte> packed(form.bytes.size());
    for (std::byte& byte : packed) byte = static_cast<std::byte>(random_.number(0, 255));
    // Sometimes less arrives than there is room for.
    const std::int64_t sent =
        random_.number(0, 2) == 0 ? random_.number(0, test.layout.bytes()) : test.layout.bytes();
    auto flights = cut(test.layout);
    run(flights, [&](Flight& flight) {
      const std::int64_t bytes = std::clamp<std::int64_t>(sent - flight.range.begin, 0, flight.range.bytes());
      Result result = Result::done();
      if (flight.step == Flight::Step::begin) {
        result = sink->begin(flight.range, flight.slot);
        if (result.is_done()) {
          const auto first = packed.begin() + flight.range.begin;
          copier.write(flight.slot.list, {first, first + bytes});
          flight.step = Flight::Step::move;
        }
      } else if (flight.step == Flight::Step::move) {
        result = sink->arrived(flight.slot, bytes);
        if (result.is_done()) flight.step = Flight::Step::wait;
      } else {
        result = sink->finished(flight.slot);
        if (result.is_done()) {
          sink->release(flight.slot);
          flight.step = Flight::Step::gone;
        }
      }
      ASSERT_FALSE(result.is_error()) << result.error().what();
    });
    for (std::size_t i = 0; i < static_cast<std::size_t>(sent); ++i)
      test.contents[test.index(form.bytes[i])] = packed[i];
    EXPECT_EQ(test.memory.contents(), test.contents) << "gaps and data of " << test.layout.text();
  }

  void run_random_messages(int messages, bool registered) {
    RegistrationProvider provider;
    provider.granted.local_registration = registered;
    Counters counters;
    {
      SchemeFactory factory(provider, counters);
      ListCopier copier(provider);
      for (int i = 0; i < messages && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        expect_source_packs(factory, copier);
        expect_sink_unpacks(factory, copier);
      }
      EXPECT_LE(factory.memory_bytes(), factory.memory_limit_bytes());
    }
    EXPECT_EQ(provider.alive, 0U);
  }

  Environment environment_;
  RandomShapes random_{20240301};
};

TEST_P(SchemeTest, MovesRandomLayoutsInRandomChunks) {
  run_random_messages(60, false);
}

TEST_P(SchemeTest, GivesRegisteredSegmentsWhereTheProviderWantsThem) {
  run_random_messages(20, true);
}

TEST_P(SchemeTest, IsRightWhateverTheDelays) {
  const EmulatorDelay delay(200, 9);
  run_random_messages(12, false);
}

TEST_P(SchemeTest, MovesAnEmptyMessage) {
  RegistrationProvider provider;
  Counters counters;
  SchemeFactory factory(provider, counters);
  std::unique_ptr<Error> why;
  if (GetParam().scheme == Scheme::device_pack) {
    EXPECT_FALSE(factory.source(Scheme::device_pack, {nullptr, Layout::contiguous(0)}, why));
    return;
  }
  const auto source = factory.source(GetParam().scheme, {nullptr, Layout::contiguous(0)}, why);
  const auto sink = factory.sink(GetParam().scheme, {nullptr, Layout::contiguous(0)}, why);
  ASSERT_TRUE(source && sink);
  Slot slot;
  ASSERT_TRUE(source->begin({0, 0}, slot).is_done());
  ASSERT_TRUE(source->ready(slot).is_done());
  EXPECT_TRUE(slot.list.empty());
  source->release(slot);
  ASSERT_TRUE(sink->begin({0, 0}, slot).is_done());
  EXPECT_TRUE(slot.list.empty());
  ASSERT_TRUE(sink->arrived(slot, 0).is_done());
  ASSERT_TRUE(sink->finished(slot).is_done());
  sink->release(slot);
}

INSTANTIATE_TEST_SUITE_P(Every, SchemeTest, ::testing::ValuesIn(cases()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return text(info.param.kind) + "_" + std::string(name(info.param.scheme));
                         });

}  // namespace
}  // namespace lath::transport
