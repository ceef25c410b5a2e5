#include "apps/wave/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace lath::wave {
namespace {

template <class T>
std::vector<std::vector<T>> allgather(Ranks& ranks, const std::vector<T>& mine) {
  std::vector<std::vector<T>> all;
  for (const std::vector<std::byte>& bytes : ranks.allgather(std::as_bytes(std::span(mine)))) {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    all.push_back(std::move(values));
  }
  return all;
}

/// A value with the place in the slice where it belongs.
struct Pixel {
  std::int64_t column;
  std::int64_t row;
  double value;
};

double shown(const Picture& picture, const std::vector<double>& field, const Strides& strides,
             std::int64_t at) {
  const auto value = [&](std::int64_t c) { return field[static_cast<std::size_t>(at + c * strides.c)]; };
  if (picture.show != Picture::Show::magnitude) return value(static_cast<std::int64_t>(picture.show));
  return std::sqrt(value(0) * value(0) + value(1) * value(1) + value(2) * value(2));
}

}  // namespace

std::uint64_t sum(Ranks& ranks, std::uint64_t mine) {
  std::uint64_t total = 0;
  for (const auto& values : allgather(ranks, std::vector<std::uint64_t>{mine})) total += values.at(0);
  return total;
}

double largest(Ranks& ranks, double mine) {
  double most = mine;
  for (const auto& values : allgather(ranks, std::vector<double>{mine})) most = std::max(most, values.at(0));
  return most;
}

Slice gather_slice(Ranks& ranks, const Problem& problem, const Block& block, Order order,
                   const std::vector<double>& field) {
  const Picture& picture = *problem.picture;
  const std::size_t across = picture.normal == 0 ? 1 : 0;
  const std::size_t down = picture.normal == 2 ? 1 : 2;
  Position position{};
  position[picture.normal] = picture.at;
  const std::int64_t plane = problem.nearest_point(position)[picture.normal];
  const Strides strides = strides_of(order, block.extents());
  std::vector<Pixel> pixels;
  const Range& normal = block.range[picture.normal];
  if (plane >= normal.first && plane < normal.first + normal.count) {
    std::array<std::int64_t, 3> at{};
    at[picture.normal] = plane - normal.first + ghosts;
    for (std::int64_t d = 0; d < block.range[down].count; ++d) {
      for (std::int64_t a = 0; a < block.range[across].count; ++a) {
        at[down] = d + ghosts;
        at[across] = a + ghosts;
        const std::int64_t first = element(strides, 0, at[0], at[1], at[2]);
        pixels.push_back({block.range[across].first + a, block.range[down].first + d,
                          shown(picture, field, strides, first)});
      }
    }
  }
  // Points above a free surface are no ground.
  const std::int64_t first_row =
      down == 2 ? static_cast<std::int64_t>(std::ceil(-problem.first_depth() / problem.spacing)) : 0;
  Slice slice{problem.points[across], problem.points[down] - first_row, {}};
  slice.values.resize(static_cast<std::size_t>(slice.columns * slice.rows));
  for (const auto& part : allgather(ranks, pixels)) {
    for (const Pixel& pixel : part) {
      if (pixel.row < first_row) continue;
      slice.values[static_cast<std::size_t>((pixel.row - first_row) * slice.columns + pixel.column)] =
          pixel.value;
    }
  }
  return slice;
}

std::vector<std::vector<double>> gather_series(Ranks& ranks, const Problem& problem,
                                               const std::vector<Simulation::Series>& mine) {
  std::vector<std::vector<double>> series(problem.receivers.size());
  const auto values_each = static_cast<std::size_t>(problem.steps * components);
  std::vector<double> packed;  // the receiver's number, then its values; and so on
  for (const Simulation::Series& one : mine) {
    packed.push_back(static_cast<double>(one.receiver));
    packed.insert(packed.end(), one.values.begin(), one.values.end());
  }
  for (const auto& part : allgather(ranks, packed)) {
    for (std::size_t at = 0; at < part.size(); at += 1 + values_each) {
      const double* values = part.data() + at + 1;
      series[static_cast<std::size_t>(part[at])].assign(values, values + values_each);
    }
  }
  return series;
}

std::vector<FaceReport> gather_reports(Ranks& ranks, const std::vector<FaceReport>& mine) {
  std::string text;
  for (const FaceReport& report : mine) {
    text += fmt::format("{} {} {} {} {} {} {}\n", static_cast<int>(report.face), report.type, report.bytes,
                        report.segments, report.scheme, report.copies, report.seconds);
  }
  std::vector<FaceReport> all;
  for (const auto& part : allgather(ranks, std::vector<char>(text.begin(), text.end()))) {
    std::istringstream lines(std::string(part.begin(), part.end()));
    FaceReport report;
    int face = 0;
    while (lines >> face >> report.type >> report.bytes >> report.segments >> report.scheme >>
           report.copies >> report.seconds) {
      report.face = static_cast<Face>(face);
      all.push_back(report);
    }
  }
  return all;
}

}  // namespace lath::wave
