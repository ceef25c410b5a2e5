#include "apps/wave/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace lath::wave {
namespace {

struct Line {
  FaceReport report;  ///< seconds summed over the ranks
  std::int64_t ranks = 0;
};

std::vector<Line> merge(const std::vector<FaceReport>& reports) {
  std::vector<Line> lines;
  for (const FaceReport& report : reports) {
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
      return line.report.face == report.face && line.report.type == report.type &&
             line.report.scheme == report.scheme && line.report.copies == report.copies;
    });
    if (same == lines.end()) {
      lines.push_back({report, 1});
    } else {
      same->report.seconds += report.seconds;
      ++same->ranks;
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.report.face < b.report.face; });
  return lines;
}

}  // namespace

std::string exchange_table(const std::vector<FaceReport>& reports, std::int64_t steps) {
  std::string table =
      fmt::format("{:<7} {:>5}  {:<38} {:>9} {:>8}  {:<24} {:>11} {:>9}\n", "face", "ranks", "type", "bytes",
                  "segments", "scheme (send/receive)", "copies/step", "us/step");
  for (const Line& line : merge(reports)) {
    const FaceReport& face = line.report;
    const std::string copies =
        face.copies < 0 ? "unknown" : fmt::format("{}", face.copies * exchanges_a_step);
    const double microseconds = 1e6 * face.seconds / static_cast<double>(line.ranks) /
                                static_cast<double>(std::max<std::int64_t>(1, steps));
    table += fmt::format("{:<7} {:>5}  {:<38} {:>9} {:>8}  {:<24} {:>11} {:>9.1f}\n", name(face.face),
                         line.ranks, face.type, face.bytes, face.segments, face.scheme, copies, microseconds);
  }
  return table;
}

namespace {

void prepare_folder(const std::string& path) {
  if (path.empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (!std::filesystem::is_directory(path)) {
    const int code = failure ? failure.value() : ENOTDIR;
    throw Error(Domain::system, code,
                fmt::format("cannot make the folder {}: {}", path, std::strerror(code)));
  }
  if (access(path.c_str(), W_OK | X_OK) != 0)
    throw Error(Domain::system, errno,
                fmt::format("cannot write to the folder {}: {}", path, std::strerror(errno)));
}

}  // namespace

void prepare_folders(const Problem& problem) {
  if (!problem.receivers.empty()) prepare_folder(problem.receiver_folder);
  if (problem.picture) prepare_folder(std::filesystem::path(problem.picture->file).parent_path().string());
}

std::vector<std::string> write_receivers(const Problem& problem,
                                         const std::vector<std::vector<double>>& series) {
  std::vector<std::string> paths;
  for (std::size_t r = 0; r < problem.receivers.size(); ++r) {
    const Receiver& receiver = problem.receivers[r];
    const std::string path = problem.receiver_folder + "/" + receiver.name + ".txt";
    const Position at = problem.position(problem.nearest_point(receiver.position));
    std::ofstream file(path);
    file << fmt::format("# {}: displacement at receiver {}, grid point ({:g}, {:g}, {:g}) m\n", problem.title,
                        receiver.name, at[0], at[1], at[2]);
    file << "# time (s)          ux (m)          uy (m)          uz (m)\n";
    const std::vector<double>& values = series[r];
    for (std::size_t step = 0; 3 * step < values.size(); ++step) {
      file << fmt::format("{:10.6f} {:15.8e} {:15.8e} {:15.8e}\n",
                          static_cast<double>(step + 1) * problem.time_step, values[3 * step],
                          values[3 * step + 1], values[3 * step + 2]);
    }
    file.close();
    if (!file)
      throw Error(Domain::system, errno, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    paths.push_back(path);
  }
  return paths;
}

}  // namespace lath::wave
