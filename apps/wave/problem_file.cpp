#include "apps/wave/problem_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/wave/toml_table.hpp"
#include "base/error.hpp"

namespace lath::wave {
namespace {

constexpr std::int64_t least_points = 5;
constexpr std::int64_t most_points = 1'000'000;
constexpr std::int64_t most_steps = 100'000'000;

Position position(const TomlTable& table) {
  const std::vector<double> values = table.numbers("position", 3);
  return {values[0], values[1], values[2]};
}

/// A position that must lie inside the grid.
Position inside(const TomlTable& table, const Problem& problem) {
  const Position at = position(table);
  for (std::size_t d = 0; d < 3; ++d) {
    const double last =
        static_cast<double>(problem.points[d] - 1) * problem.spacing + (d == 2 ? problem.first_depth() : 0.0);
    if (at[d] < 0.0 || at[d] > last)
      table.fail("position", fmt::format("{} from 0 to {} metres", "xyz"[d], last));
  }
  return at;
}

void read_grid(const TomlTable& table, Problem& problem) {
  table.allow({"points", "spacing", "top"});
  const std::vector<std::int64_t> points = table.integers("points", 3, least_points, most_points);
  problem.points = {points[0], points[1], points[2]};
  problem.spacing = table.positive("spacing");
  problem.top = static_cast<Problem::Top>(table.choice("top", {"free", "damped"}, 0));
}

Layer read_layer(const TomlTable& table, const Problem& problem) {
  table.allow({"top", "vp", "vs", "density"});
  const Layer layer{table.number("top", 0.0), table.positive("vp"), table.positive("vs"),
                    table.positive("density")};
  // lambda + 2/3 mu must be positive.
  if (3.0 * layer.vp * layer.vp < 4.0 * layer.vs * layer.vs) {
    table.fail("vs", fmt::format("at most {:.6g}, sqrt(3)/2 of vp", std::sqrt(0.75) * layer.vp));
  }
  if (problem.layers.empty() ? layer.top != 0.0 : layer.top <= problem.layers.back().top) {
    table.fail("top", "depths that begin with 0 and rise from layer to layer");
  }
  return layer;
}

Source read_source(const TomlTable& table, const Problem& problem) {
  table.allow({"position", "time_function", "frequency", "delay", "force", "moment"});
  Source source;
  source.position = inside(table, problem);
  source.time.kind = static_cast<TimeFunction::Kind>(
      table.choice("time_function", {"ricker", "gaussian", "gaussian_step", "brune_step"}, 0));
  source.time.frequency = table.positive("frequency");
  source.time.delay = table.number("delay", 0.0);
  if (!table.has("force") && !table.has("moment")) table.fail("force", "a list of 3 numbers, or moment of 6");
  if (table.has("force")) {
    const std::vector<double> values = table.numbers("force", 3);
    std::copy(values.begin(), values.end(), source.force.begin());
  }
  if (table.has("moment")) {
    const std::vector<double> values = table.numbers("moment", 6);
    std::copy(values.begin(), values.end(), source.moment.begin());
  }
  return source;
}

void read_damping(const TomlTable& table, Problem& problem) {
  table.allow({"points", "reflection"});
  std::int64_t most = std::min({problem.points[0], problem.points[1], problem.points[2]}) / 2;
  problem.damping_points = table.integer("points", 0, most);
  problem.damping_reflection = table.number("reflection", problem.damping_reflection);
  if (problem.damping_reflection <= 0.0 || problem.damping_reflection >= 1.0) {
    table.fail("reflection", "a number between 0 and 1");
  }
}

void read_time(const TomlTable& table, Problem& problem) {
  table.allow({"end", "cfl", "step", "steps"});
  const double scale = problem.spacing / time_scale_speed(problem);
  if (table.has("end")) {
    if (table.has("steps") || table.has("step")) table.fail("end", "either end (and cfl), or step and steps");
    const double cfl = table.number("cfl", 1.2);
    if (cfl <= 0.0 || cfl > largest_cfl)
      table.fail("cfl", fmt::format("above 0 and at most {}", largest_cfl));
    const double end = table.positive("end");
    if (end / (cfl * scale) > static_cast<double>(most_steps)) table.fail("end", "fewer than 1e8 time steps");
    set_time(problem, end, cfl);
    return;
  }
  problem.steps = table.integer("steps", 1, most_steps);
  problem.time_step = table.positive("step");
  if (problem.time_step > largest_cfl * scale) {
    table.fail("step", fmt::format("at most {:.6g} seconds, for stability", largest_cfl * scale));
  }
}

void read_output(const TomlTable& table, Problem& problem) {
  table.allow({"receivers", "picture", "slice", "at", "show"});
  problem.receiver_folder = table.text("receivers", "");
  if (!table.has("picture")) {
    for (const char* key : {"slice", "at", "show"}) {
      if (table.has(key)) table.fail(key, "a picture's file in output.picture beside it");
    }
    return;
  }
  Picture picture;
  picture.file = table.text("picture");
  picture.normal = table.choice("slice", {"x", "y", "z"}, 1);
  picture.at = table.number("at");
  picture.show = static_cast<Picture::Show>(table.choice("show", {"x", "y", "z", "magnitude"}, 2));
  const double length = static_cast<double>(problem.points[picture.normal] - 1) * problem.spacing +
                        (picture.normal == 2 ? problem.first_depth() : 0.0);
  if (picture.at < 0.0 || picture.at > length) table.fail("at", fmt::format("0 to {} metres", length));
  problem.picture = picture;
}

void read_source_mode(const TomlTable& root, Problem& problem) {
  for (const TomlTable& table : root.tables("layer")) problem.layers.push_back(read_layer(table, problem));
  if (problem.layers.empty()) root.fail("layer", "at least one table [[layer]]");
  if (root.has("damping")) read_damping(root.table("damping"), problem);
  for (const TomlTable& table : root.tables("source")) problem.sources.push_back(read_source(table, problem));
  if (problem.sources.empty()) root.fail("source", "at least one table [[source]]");
}

Receiver read_receiver(const TomlTable& table, const Problem& problem) {
  table.allow({"name", "position"});
  Receiver receiver{table.text("name"), inside(table, problem)};
  if (receiver.name.find_first_of("/\\ \t\n") != std::string::npos || receiver.name.front() == '.') {
    table.fail("name", "a name fit for a file, without spaces and slashes");
  }
  for (const Receiver& other : problem.receivers) {
    if (other.name == receiver.name) table.fail("name", "a name that no other receiver has");
  }
  return receiver;
}

Problem read(const TomlTable& root) {
  root.allow({"title", "mode", "grid", "time", "layer", "damping", "source", "receiver", "output"});
  Problem problem;
  problem.title = root.text("title", "untitled");
  problem.mode = static_cast<Problem::Mode>(root.choice("mode", {"source", "manufactured"}, 0));
  read_grid(root.table("grid"), problem);
  if (problem.mode == Problem::Mode::source) {
    read_source_mode(root, problem);
  } else {
    for (const char* key : {"layer", "damping", "source"}) {
      if (root.has(key)) root.fail(key, "nothing: a manufactured solution has its own material and forces");
    }
  }
  read_time(root.table("time"), problem);
  for (const TomlTable& table : root.tables("receiver")) {
    problem.receivers.push_back(read_receiver(table, problem));
  }
  if (root.has("output")) read_output(root.table("output"), problem);
  return problem;
}

}  // namespace

Problem parse_problem(std::string_view text, const std::string& name) {
  toml::table parsed;
  try {
    parsed = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw Error(Code::parse, fmt::format("{}:{}:{}: {}", name, error.source().begin.line,
                                         error.source().begin.column, error.description()));
  }
  return read(TomlTable(parsed, name, ""));
}

Problem read_problem(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw Error(Code::invalid_argument, fmt::format("cannot read {}: it is a folder", path));
  std::ifstream file(path);
  std::stringstream text;
  if (file) text << file.rdbuf();
  if (!file || (text.fail() && file.peek() != std::ifstream::traits_type::eof())) {
    throw Error(Code::invalid_argument, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  return parse_problem(text.str(), path);
}

}  // namespace lath::wave
