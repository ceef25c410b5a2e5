#include "apps/wave/problem_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace {

using namespace lath::wave;

const std::string good = R"(title = "t"
[grid]
points = [20, 21, 22]
spacing = 50
[time]
step = 1e-3
steps = 10
[[layer]]
vp = 4000
vs = 2000.0
density = 2600
[[source]]
position = [100, 200, 300]
frequency = 5
force = [1, 0, 0]
[[receiver]]
name = "A"
position = [0, 0, 0]
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = good;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string failure(const std::string& text) {
  try {
    static_cast<void>(parse_problem(text, "in.toml"));
  } catch (const lath::Error& error) {
    EXPECT_EQ(error.lath_code(), lath::Code::parse);
    return error.what();
  }
  return "accepted";
}

TEST(ProblemFile, ReadsWhatIsThere) {
  const Problem problem = parse_problem(good, "in.toml");
  EXPECT_EQ(problem.title, "t");
  EXPECT_EQ(problem.points, (std::array<std::int64_t, 3>{20, 21, 22}));
  EXPECT_EQ(problem.spacing, 50.0);
  EXPECT_EQ(problem.top, Problem::Top::free);
  EXPECT_EQ(problem.steps, 10);
  EXPECT_EQ(problem.layers.size(), 1U);
  EXPECT_EQ(problem.sources.at(0).time.kind, TimeFunction::Kind::ricker);
  EXPECT_EQ(problem.receivers.at(0).name, "A");
  EXPECT_FALSE(problem.picture.has_value());
}

TEST(ProblemFile, ReadsTheShippedInputs) {
  for (const char* name : {"small.toml", "loh1.toml"}) {
    const Problem problem = read_problem(std::string(LATH_WAVE_INPUTS) + "/" + name);
    EXPECT_EQ(problem.layers.size(), 2U) << name;
    EXPECT_EQ(problem.layers[1].top, 1000.0) << name;
    EXPECT_TRUE(problem.picture.has_value()) << name;
  }
}

TEST(ProblemFile, TimeStepsReachTheEndAndStayBelowTheLimit) {
  const Problem problem = parse_problem(replaced("step = 1e-3\nsteps = 10", "end = 1.0"), "in.toml");
  EXPECT_NEAR(static_cast<double>(problem.steps) * problem.time_step, 1.0, 1e-12);
  EXPECT_LE(problem.time_step, 1.2 * 50.0 / time_scale_speed(problem));
}

TEST(ProblemFile, ErrorsNameFileLineAndKey) {
  using testing::HasSubstr;
  EXPECT_THAT(failure(replaced("spacing = 50", "spacing = -50")),
              HasSubstr("in.toml:4: bad value of grid.spacing: expected a number above 0"));
  EXPECT_THAT(failure(replaced("spacing = 50", "spacing = \"x\"")),
              HasSubstr("in.toml:4: bad value of grid.spacing"));
  EXPECT_THAT(failure(replaced("spacing = 50", "spacing = nan")),
              HasSubstr("in.toml:4: bad value of grid.spacing"));
  EXPECT_THAT(failure(replaced("spacing = 50\n", "")), HasSubstr("missing grid.spacing"));
  EXPECT_THAT(failure(replaced("spacing", "spacign")), HasSubstr("in.toml:4: unknown key grid.spacign"));
  EXPECT_THAT(failure(replaced("[20, 21, 22]", "[20, 21]")),
              HasSubstr("in.toml:3: bad value of grid.points"));
  EXPECT_THAT(failure(replaced("[20, 21, 22]", "[20, 21, 2.5]")), HasSubstr("grid.points"));
  EXPECT_THAT(failure(replaced("[20, 21, 22]", "[20, 21, 1]")), HasSubstr("grid.points"));
  EXPECT_THAT(failure(replaced("vs = 2000.0", "vs = 3900")), HasSubstr("layer[1].vs"));
  EXPECT_THAT(failure(replaced("force = [1, 0, 0]\n", "")), HasSubstr("missing source[1].force"));
  EXPECT_THAT(failure(replaced("[100, 200, 300]", "[100, 200, 3000]")),
              HasSubstr("in.toml:13: bad value of source[1].position: expected z from 0 to"));
  EXPECT_THAT(failure(replaced("step = 1e-3", "step = 1")), HasSubstr("time.step"));
  EXPECT_THAT(failure(replaced("steps = 10", "end = 1.0")), HasSubstr("time.end"));
  EXPECT_THAT(failure(replaced("name = \"A\"", "name = \"../A\"")), HasSubstr("receiver[1].name"));
  EXPECT_THAT(failure(good + "[extra]\n"), HasSubstr("in.toml:19: unknown key extra"));
  EXPECT_THAT(failure(good + "[output]\nat = 3.0\n"), HasSubstr("output.at"));
  EXPECT_THAT(
      failure(good + "[output]\npicture = \"p.png\"\nat = 3.0\nshow = \"q\"\n"),
      HasSubstr("in.toml:22: bad value of output.show: expected one of \"x\", \"y\", \"z\", \"magnitude\""));
  EXPECT_THAT(failure("[grid\n"), HasSubstr("in.toml:1:"));
  EXPECT_THAT(failure("mode = \"manufactured\"\n" + good), HasSubstr("layer"));
}

TEST(ProblemFile, AMissingFileIsNamed) {
  try {
    static_cast<void>(read_problem("/nonexistent/wave.toml"));
    FAIL();
  } catch (const lath::Error& error) {
    EXPECT_EQ(error.lath_code(), lath::Code::invalid_argument);
    EXPECT_THAT(error.what(), testing::HasSubstr("/nonexistent/wave.toml: No such file"));
  }
}

}  // namespace
