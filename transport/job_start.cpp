#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "base/log.hpp"
#include "transport/job.hpp"

namespace lath::transport {
namespace {

using Clock = std::chrono::steady_clock;

/// How long the others may go on after the first failure, so that they can say what they saw.
constexpr std::chrono::seconds grace{3};
constexpr int timed_out = 124;

struct Child {
  pid_t pid = -1;
  Socket alive;  // the read end of a pipe whose write end only the child holds: ends with it
};

std::string random_name() {
  std::uint64_t token = 0;
  if (getrandom(&token, sizeof token, 0) != sizeof token) throw Error(Domain::system, errno, "getrandom");
  return fmt::format("lath-job-{}-{:016x}", getuid(), token);
}

/// This process' environment with the job's variables in place of any it has.
std::vector<std::string> job_environment(int rank, int size, const std::string& name) {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    if (!line.starts_with("LATH_JOB_RANK=") && !line.starts_with("LATH_JOB_SIZE=") &&
        !line.starts_with("LATH_JOB_NAME="))
      out.emplace_back(line);
  }
  out.push_back(fmt::format("LATH_JOB_RANK={}", rank));
  out.push_back(fmt::format("LATH_JOB_SIZE={}", size));
  out.push_back("LATH_JOB_NAME=" + name);
  return out;
}

std::vector<char*> pointers(std::span<const std::string> texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Everything that allocates is done before the fork: another thread may hold the allocator's lock.
Child start_one(std::span<const std::string> arguments, std::span<const std::string> environment) {
  const auto argv = pointers(arguments);
  const auto envp = pointers(environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(Domain::system, errno, "making a pipe");
  Child child{-1, Socket(ends[0])};
  const Socket write_end(ends[1]);
  const pid_t parent = getpid();
  child.pid = fork();
  if (child.pid < 0) throw Error(Domain::system, errno, "starting a process of the job");
  if (child.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(128 + SIGKILL);
    fcntl(write_end.get(), F_SETFD, 0);
    execve("/proc/self/exe", argv.data(), envp.data());
    _exit(127);
  }
  return child;
}

/// The started processes; what is left of them is killed and reaped with it.
class Children {
 public:
  void add(Child child) { children_.push_back(std::move(child)); }
  ~Children() {
    for (const Child& child : children_)
      if (child.pid > 0) kill(child.pid, SIGKILL);
    for (const Child& child : children_)
      if (child.pid > 0) waitpid(child.pid, nullptr, 0);
  }

  /// Waits until a child ends, and reaps it: its rank, or -1 at the deadline.
  int wait_one(std::optional<Clock::time_point> deadline, int& status) {
    for (;;) {
      std::vector<pollfd> entries;
      for (const Child& child : children_) entries.push_back({child.alive.get(), POLLIN, 0});
      const int count = poll(entries.data(), entries.size(), milliseconds_to(deadline));
      if (count < 0 && errno != EINTR) throw Error(Domain::system, errno, "waiting for the job's processes");
      for (std::size_t rank = 0; count > 0 && rank < entries.size(); ++rank)
        if (entries[rank].revents != 0) {
          waitpid(children_[rank].pid, &status, 0);
          children_[rank] = {};
          return static_cast<int>(rank);
        }
      if (deadline && Clock::now() >= *deadline) return -1;
    }
  }

 private:
  static int milliseconds_to(std::optional<Clock::time_point> deadline) {
    if (!deadline) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
  }

  std::vector<Child> children_;
};

int exit_status(int status, int rank, int size) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  log::error("process {} of {} died of signal {} ({})", rank, size, WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  return 128 + WTERMSIG(status);
}

}  // namespace

int start_local(int size, std::span<const std::string> arguments, std::chrono::milliseconds limit) {
  if (size < 1) throw Error(Code::invalid_argument, fmt::format("a job of {} processes", size));
  const std::string name = random_name();
  Children children;
  for (int rank = 0; rank < size; ++rank)
    children.add(start_one(arguments, job_environment(rank, size, name)));

  std::optional<Clock::time_point> deadline;
  if (limit.count() > 0) deadline = Clock::now() + limit;
  int first_failure = 0;
  for (int left = size; left > 0; --left) {
    int status = 0;
    const int rank = children.wait_one(deadline, status);
    if (rank < 0) {
      if (first_failure != 0) break;
      log::error("the job did not end within {} s", static_cast<double>(limit.count()) / 1000.0);
      return timed_out;
    }
    const int result = exit_status(status, rank, size);
    if (result != 0 && first_failure == 0) {
      first_failure = result;
      deadline = Clock::now() + grace;
    }
  }
  return first_failure;
}

}  // namespace lath::transport
