#include "base/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.hpp"

namespace lath::config {
namespace {

class Config : public testing::Test {
 protected:
  void set(const char* variable, const char* value) {
    setenv(variable, value, 1);
    names_.emplace_back(variable);
    reload();
  }
  ~Config() override {
    for (const std::string& variable : names_) unsetenv(variable.c_str());
    reload();
  }

 private:
  std::vector<std::string> names_;
};

std::string message_of(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Config, TableIsSortedAndEveryDefaultIsLegal) {
  EXPECT_TRUE(std::ranges::is_sorted(variables(), {}, &Variable::name));
  for (const Variable& variable : variables()) {
    unsetenv(std::string(variable.name).c_str());
    reload();
    switch (variable.type) {
      case Type::integer:
        EXPECT_NO_THROW(static_cast<void>(integer(variable.name)));
        break;
      case Type::bytes:
        EXPECT_NO_THROW(static_cast<void>(bytes(variable.name)));
        break;
      case Type::boolean:
        EXPECT_NO_THROW(static_cast<void>(boolean(variable.name)));
        break;
      case Type::text:
      case Type::choice:
        EXPECT_NO_THROW(static_cast<void>(text(variable.name)));
        break;
    }
  }
}

TEST_F(Config, BytesTakeSuffixes) {
  set("LATH_EAGER_BYTES", "3K");
  EXPECT_EQ(bytes("LATH_EAGER_BYTES"), 3 * 1024);
  set("LATH_EAGER_BYTES", "2M");
  EXPECT_EQ(bytes("LATH_EAGER_BYTES"), 2 * 1024 * 1024);
  set("LATH_EAGER_BYTES", "17");
  EXPECT_EQ(bytes("LATH_EAGER_BYTES"), 17);
}

TEST_F(Config, BadValuesNameVariableAndExpectation) {
  for (const char* bad : {"", "K", "-1", "1KK", "9999999999G", "1.5K", " 1"}) {
    set("LATH_EAGER_BYTES", bad);
    EXPECT_THAT(message_of([] { static_cast<void>(bytes("LATH_EAGER_BYTES")); }),
                testing::HasSubstr("LATH_EAGER_BYTES"))
        << bad;
  }
  set("LATH_GPU", "cuda");
  EXPECT_THAT(message_of([] { static_cast<void>(text("LATH_GPU")); }),
              testing::HasSubstr("auto|emulated|none"));
}

TEST_F(Config, UnknownVariablesAreReportedWithTheNearestName) {
  set("LATH_PROVIDR", "ofi");
  const auto found = unknown();
  const auto at = std::ranges::find(found, "LATH_PROVIDR", &Unknown::name);
  ASSERT_NE(at, found.end());
  EXPECT_EQ(at->nearest, "LATH_PROVIDER");
}

}  // namespace
}  // namespace lath::config
