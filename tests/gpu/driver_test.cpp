#include "gpu/driver.hpp"

#include <gtest/gtest.h>

#include "tests/gpu/gpu_test.hpp"

namespace lath::gpu {
namespace {

using Driver = GpuTest;

TEST_F(Driver, EveryCallIsFound) {
  const auto& table = *driver();
#define LATH_EXPECT_FOUND(kind, symbol, ...) EXPECT_TRUE(table.symbol.exists()) << #symbol;
  LATH_DRIVER_CALLS(LATH_EXPECT_FOUND)
#undef LATH_EXPECT_FOUND
}

TEST_F(Driver, ErrorsNameTheCodeAndWhatWasDone) {
  const Error error = driver_error(CUDA_ERROR_INVALID_VALUE, "doing this");
  EXPECT_EQ(error.domain(), Domain::cuda);
  EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(error.lath_code(), Code::gpu);
  const std::string text = error.what();
  EXPECT_NE(text.find("doing this"), std::string::npos) << text;
  EXPECT_NE(text.find("CUDA_ERROR_INVALID_VALUE"), std::string::npos) << text;
}

TEST(DriverCall, AFunctionThatTheDriverLacksIsNotSupported) {
  DriverTable table;
  EXPECT_EQ(table.cuInit(0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_FALSE(table.cuInit.exists());
}

}  // namespace
}  // namespace lath::gpu
