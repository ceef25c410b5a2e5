#include "tests/cli/run_command.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace lath::cli {
namespace {

[[noreturn]] void become(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                         int out, int err) {
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

/// Reads what is there; false at the end.
bool drain(int from, std::string& to) {
  char buffer[65536];
  const auto got = read(from, buffer, sizeof buffer);
  if (got > 0) to.append(buffer, static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

Finished run(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) throw std::runtime_error("pipe");
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid == 0) {
    close(out[0]);
    close(err[0]);
    become(command, environment, out[1], err[1]);
  }
  close(out[1]);
  close(err[1]);
  Finished finished;
  pollfd entries[] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  while (entries[0].fd >= 0 || entries[1].fd >= 0) {
    poll(entries, 2, -1);
    for (auto* entry : {&entries[0], &entries[1]}) {
      if (entry->fd < 0 || entry->revents == 0) continue;
      if (drain(entry->fd, entry == &entries[0] ? finished.out : finished.err)) continue;
      close(entry->fd);
      entry->fd = -1;
    }
  }
  int status = 0;
  waitpid(pid, &status, 0);
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

std::string command_path() {
  const char* path = std::getenv("COMMAND_UNDER_TEST");
  if (path == nullptr) throw std::runtime_error("COMMAND_UNDER_TEST must hold the path of the lath command");
  return path;
}

Finished lath(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  std::vector<std::string> command{command_path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run(command, environment);
}

}  // namespace lath::cli
