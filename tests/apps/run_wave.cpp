#include "tests/apps/run_wave.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>

namespace lath::wave {

std::string WaveRun::checksum() const {
  const std::string key = "\nchecksum: ";
  const std::size_t at = output.find(key);
  return at == std::string::npos ? "" : output.substr(at + key.size(), 16);
}

std::string WaveRun::last_line() const {
  const std::size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t before = output.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return output.substr(begin, end + 1 - begin);
}

WaveRun run_wave(const std::string& arguments, const std::string& launcher) {
  const std::string command = launcher + " " LATH_WAVE " " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  WaveRun run;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    run.output.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

}  // namespace lath::wave
