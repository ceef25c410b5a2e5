#include <cstdlib>

#include "base/config.hpp"
#include "gpu/device.hpp"
#include "gpu/stream.hpp"
#include "providers/unmapping_hooks.hpp"
#include "tests/transport/pair.hpp"
#include "transport/plan.hpp"

/// The ghost faces of a solver, over a provider with long lists: what is counted, not what is timed.
namespace lath::transport {
namespace {

/// A y face of SW4Lite: 600 blocks of 3,200 bytes.
constexpr std::string_view y_face = "vector(600,3200,6400,char)";
constexpr std::int64_t y_bytes = 600 * 3200;
constexpr std::size_t y_room = 600 * 6400;
/// An x face: 120,000 blocks of 16 bytes.
constexpr std::string_view x_face = "vector(120000,16,32,char)";

class Faces : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      if (std::string_view(GetParam()) == "stub") {
        providers::StubOptions options;
        options.limits.send_list = options.limits.receive_list = 32;
        options.limits.local_registration = true;
        pair = std::make_unique<Pair>(options);
      } else {
        pair = std::make_unique<Pair>(std::string_view(GetParam()));
      }
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    // A first message, so that the connection is there.
    move(Layout::contiguous(y_bytes), Layout::contiguous(y_bytes));
  }

  void move(const Layout& from, const Layout& to) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
    std::fill(into.begin(), into.end(), std::byte{0xee});
    const Counters before = (*pair)[0].counters(), before_there = (*pair)[1].counters();
    Request* receive = pair->receive(1, Data::of(into.data(), to));
    Request* send = pair->send(0, Data::of(data.data(), from));
    const Outcome received = pair->wait(1, receive);
    const Outcome sent = pair->wait(0, send);
    ASSERT_EQ(received.error, nullptr) << received.error->what();
    ASSERT_EQ(sent.error, nullptr) << sent.error->what();
    used = (*pair)[0].counters();
    used -= before;
    used_there = (*pair)[1].counters();
    used_there -= before_there;
    std::vector<std::byte> expected(into.size(), std::byte{0xee}),
        packed(static_cast<std::size_t>(from.bytes()));
    pack(from, data.data(), {0, from.bytes()}, packed.data());
    unpack(to, expected.data(), {0, to.bytes()}, packed.data());
    ASSERT_TRUE(into == expected);
  }
  void expect_no_pack_and_ceiling_of_limit() const {
    EXPECT_EQ(used.pack_copies, 0U);
    EXPECT_EQ(used_there.pack_copies, 0U);
    EXPECT_EQ(used.staged_bytes, 0U);
    EXPECT_EQ(used_there.staged_bytes, 0U);
    // The announcement is one more.
    EXPECT_EQ(used.work_requests, (600 + 31) / 32 + 1U);
    EXPECT_LT(used.wire_bytes, y_bytes * 102 / 100);
    // The whole buffer once on either side, not a block or a chunk at a time.
    EXPECT_LE(used.registrations, 1U);
    EXPECT_LE(used_there.registrations, 1U);
  }

  std::unique_ptr<Pair> pair;
  std::vector<std::byte> data = std::vector<std::byte>(y_room), into = std::vector<std::byte>(y_room);
  Counters used, used_there;
};

TEST_P(Faces, ThePlannerGathersAYFaceToAContiguousPeer) {
  move(Layout::of(parse_type(y_face), 1), Layout::contiguous(y_bytes));
  expect_no_pack_and_ceiling_of_limit();
}

TEST_P(Faces, ThePlannerScattersAContiguousMessageIntoAYFace) {
  move(Layout::contiguous(y_bytes), Layout::of(parse_type(y_face), 1));
  expect_no_pack_and_ceiling_of_limit();
}

TEST_P(Faces, ThePlannerMovesAYFaceIntoTheSameFaceByListsOnBothSides) {
  move(Layout::of(parse_type(y_face), 1), Layout::of(parse_type(y_face), 1));
  expect_no_pack_and_ceiling_of_limit();
}

TEST_P(Faces, AHaloLoopRegistersItsArraysInTheFirstStepAlone) {
  if (!providers::unmapping_hooks().installed) GTEST_SKIP() << providers::unmapping_hooks().reason;
  const Layout face = Layout::of(parse_type(y_face), 1);
  for (int step = 0; step < 30; ++step) {
    move(face, face);
    EXPECT_LE(used.registrations, step == 0 ? 1U : 0U) << step;
    EXPECT_LE(used_there.registrations, step == 0 ? 1U : 0U) << step;
  }
}

TEST_P(Faces, ThePlannerPacksAnXFaceOfSmallBlocks) {
  move(Layout::of(parse_type(x_face), 1), Layout::contiguous(120000 * 16));
  EXPECT_EQ(used.pack_copies, 1U);
  EXPECT_EQ(used_there.pack_copies, 0U);
  EXPECT_LT(used.work_requests, 40U);
}

TEST(DeviceFaces, AreGatheredAndScatteredByTheNicItself) {
  if (!gpu::availability().available) GTEST_SKIP() << gpu::availability().reason;
  std::unique_ptr<Pair> pair;
  try {
    pair = std::make_unique<Pair>("verbs");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const gpu::DeviceBuffer source(0, y_room), target(0, y_room);
  std::vector<std::byte> data(y_room), got(y_room), expected(y_room, std::byte{0xee});
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
  const Layout face = Layout::of(parse_type(y_face), 1);
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(gpu::copy_and_wait(source.data(), data.data(), y_room).is_done());
    ASSERT_TRUE(gpu::copy_and_wait(target.data(), expected.data(), y_room).is_done());
    const Counters before = (*pair)[0].counters(), before_there = (*pair)[1].counters();
    Request* receive = pair->receive(1, Data::of(target.data(), face));
    Request* send = pair->send(0, Data::of(source.data(), face));
    EXPECT_EQ(pair->wait(1, receive).error, nullptr);
    EXPECT_EQ(pair->wait(0, send).error, nullptr);
    Counters used = (*pair)[0].counters();
    used -= before;
    Counters used_there = (*pair)[1].counters();
    used_there -= before_there;
    for (const Counters& counters : {used, used_there}) {
      EXPECT_EQ(counters.pack_copies, 0U);
      EXPECT_EQ(counters.staged_bytes, 0U);
      EXPECT_EQ(counters.driver_calls, 0U) << "the GPU has no part in it";
      EXPECT_LE(counters.registrations, step == 0 ? 1U : 0U);
    }
    ASSERT_TRUE(gpu::copy_and_wait(got.data(), target.data(), y_room).is_done());
    std::vector<std::byte> packed(y_bytes), right = expected;
    pack(face, data.data(), {0, y_bytes}, packed.data());
    unpack(face, right.data(), {0, y_bytes}, packed.data());
    ASSERT_TRUE(got == right);
  }
}

INSTANTIATE_TEST_SUITE_P(Providers, Faces, testing::Values("stub", "verbs"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace lath::transport
