#include "base/error.hpp"

#include <gtest/gtest.h>

#include "base/counters.hpp"
#include "base/result.hpp"

namespace lath {
namespace {

TEST(Error, SaysDomainCodeWhatAndWhere) {
  EXPECT_STREQ(Error(Domain::libfabric, -22, "fi_mr_reg of 4096 bytes", "ofi:tcp").what(),
               "libfabric error -22: fi_mr_reg of 4096 bytes (ofi:tcp)");
  EXPECT_STREQ(Error(Code::parse, "column 3: expected ','").what(), "parse error: column 3: expected ','");
}

TEST(Error, EveryDomainMapsToACode) {
  EXPECT_EQ(Error(Domain::cuda, 2, "").lath_code(), Code::gpu);
  EXPECT_EQ(Error(Domain::verbs, 12, "").lath_code(), Code::provider);
  EXPECT_EQ(Error(Code::truncated, "").lath_code(), Code::truncated);
  EXPECT_EQ(Error(Domain::system, 2, "").lath_code(), Code::internal);
}

TEST(Result, CarriesItsErrorAndOnlyThen) {
  EXPECT_TRUE(Result::done().is_done());
  EXPECT_TRUE(Result::again().is_again());
  Result failed = Result::failure(Code::gpu, "x");
  ASSERT_TRUE(failed.is_error());
  EXPECT_EQ(failed.error().lath_code(), Code::gpu);
  EXPECT_EQ(failed.take_error()->lath_code(), Code::gpu);
}

TEST(Counters, AddAndSubtractEveryField) {
  Counters one;
  one.messages = 1;
  one.event_polls = 7;
  Counters sum = one;
  sum += one;
  EXPECT_EQ(sum.messages, 2u);
  EXPECT_EQ(sum.event_polls, 14u);
  sum -= one;
  for (std::size_t i = 0; i < Counters::field_count; ++i) EXPECT_EQ(sum.fields()[i], one.fields()[i]);
}

}  // namespace
}  // namespace lath
