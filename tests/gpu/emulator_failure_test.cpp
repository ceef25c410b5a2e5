#include "tests/gpu/gpu_test.hpp"

namespace lath::gpu {
namespace {

using EmulatorFailure = EmulatorTest;

TEST_F(EmulatorFailure, TheNthCallFailsWithTheGivenCode) {
  auto& fail = LATH_EMULATOR_CONTROL(lath_emulator_fail);
  ASSERT_EQ(fail("cuMemAlloc_v2", 2, 1, CUDA_ERROR_OUT_OF_MEMORY), 0);
  const DeviceBuffer first(0, 10);
  try {
    const DeviceBuffer second(0, 20);
    FAIL() << "the second allocation succeeded";
  } catch (const Error& error) {
    EXPECT_EQ(error.domain(), Domain::cuda);
    EXPECT_EQ(error.code(), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_NE(std::string(error.what()).find("20 bytes"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos) << error.what();
  }
  const DeviceBuffer third(0, 30);
  EXPECT_EQ(fail("cuNoSuchCall", 1, 1, 1), -1);
}

TEST_F(EmulatorFailure, FailuresReachTheDataPathAsResults) {
  auto& fail = LATH_EMULATOR_CONTROL(lath_emulator_fail);
  Stream stream(0);
  Event event(0);
  const DeviceBuffer buffer(0, 64);
  const PinnedBuffer host(0, 64);
  fail("cuMemcpyAsync", 1, 1, CUDA_ERROR_UNKNOWN);
  EXPECT_TRUE(stream.copy(buffer.data(), host.data(), 64).is_error());
  fail("cuEventRecord", 1, 1, CUDA_ERROR_UNKNOWN);
  EXPECT_TRUE(stream.record(event).is_error());
  fail("cuEventQuery", 1, 1, CUDA_ERROR_ILLEGAL_ADDRESS);
  const Result polled = event.poll();
  ASSERT_TRUE(polled.is_error());
  EXPECT_EQ(polled.error().code(), CUDA_ERROR_ILLEGAL_ADDRESS);
  fail("cuStreamCreate", 1, 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THROW(Stream(0), Error);
  EXPECT_TRUE(is_done(stream.copy(buffer.data(), host.data(), 64))) << "later calls work again";
  EXPECT_TRUE(is_done(stream.synchronize()));
}

TEST_F(EmulatorFailure, AnOrderIsTakenBackByCountZero) {
  auto& fail = LATH_EMULATOR_CONTROL(lath_emulator_fail);
  fail("cuEventCreate", 1, UINT64_MAX, CUDA_ERROR_UNKNOWN);
  EXPECT_THROW(Event(0), Error);
  EXPECT_THROW(Event(0), Error);
  fail("cuEventCreate", 1, 0, 0);
  EXPECT_NO_THROW(Event(0));
}

TEST_F(EmulatorFailure, TheNthCopyGoesWrongByItsFirstByte) {
  auto& corrupt = LATH_EMULATOR_CONTROL(lath_emulator_corrupt);
  const DeviceBuffer buffer(0, 4);
  const std::vector<unsigned char> right{1, 2, 3, 4};
  upload(buffer.data(), right);
  ASSERT_EQ(corrupt("cuMemcpyAsync", 2, 2), 0);
  EXPECT_EQ(download(buffer.data(), 4), right);
  EXPECT_EQ(download(buffer.data(), 4), (std::vector<unsigned char>{2, 2, 3, 4}));
  upload(buffer.data(), right);
  EXPECT_EQ(download(buffer.data(), 4), (std::vector<unsigned char>{2, 2, 3, 4})) << "the upload was wrong";
  EXPECT_EQ(corrupt("cuMemAlloc_v2", 1, 1), -1);
  EXPECT_EQ(corrupt("cuNoSuchCall", 1, 1), -1);
  ASSERT_EQ(corrupt("cuMemcpyAsync", 1, UINT64_MAX), 0);
  ASSERT_EQ(corrupt("cuMemcpyAsync", 1, 0), 0);
  upload(buffer.data(), right);
  EXPECT_EQ(download(buffer.data(), 4), right) << "the order was taken back";
}

TEST_F(EmulatorFailure, EntryPointsAreCountedAndOursAgree) {
  auto& calls = LATH_EMULATOR_CONTROL(lath_emulator_calls);
  const auto work_calls = [&] {
    std::uint64_t sum = 0;
#define LATH_ADD_WORK(kind, symbol, ...) sum += CallKind::kind == CallKind::work ? calls(#symbol) : 0;
    LATH_DRIVER_CALLS(LATH_ADD_WORK)
#undef LATH_ADD_WORK
    return sum;
  };
  const auto before = work_calls();
  const auto ours_before = driver_counts().calls.load();
  const auto polls_before = driver_counts().event_polls.load();
  {
    Stream stream(0);
    Event event(0);
    const DeviceBuffer buffer(0, 64);
    ASSERT_TRUE(is_done(stream.copy(buffer.data(), buffer.data(), 64)));
    ASSERT_TRUE(is_done(stream.record(event)));
    ASSERT_FALSE(event.poll().is_error());
    ASSERT_TRUE(is_done(stream.synchronize()));
  }
  EXPECT_EQ(work_calls() - before, 9U);
  EXPECT_EQ(driver_counts().calls.load() - ours_before, 9U);
  EXPECT_EQ(driver_counts().event_polls.load() - polls_before, 1U);
}

}  // namespace
}  // namespace lath::gpu
