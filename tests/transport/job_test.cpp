#include "transport/job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/config.hpp"
#include "base/error.hpp"

namespace lath::transport {
namespace {

std::vector<std::byte> message_of(int rank, int round) {
  // Long enough that a socket's buffer does not hold it.
  std::vector<std::byte> out(static_cast<std::size_t>(rank) * 300'000 + static_cast<std::size_t>(round));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(rank) + static_cast<std::size_t>(round));
  return out;
}

int exchange(Job& job, int expected_size) {
  if (job.size() != expected_size) return 10;
  for (int round = 0; round < 3; ++round) {
    const auto all = job.allgather(message_of(job.rank(), round));
    if (all.size() != static_cast<std::size_t>(job.size())) return 11;
    for (int rank = 0; rank < job.size(); ++rank)
      if (all[static_cast<std::size_t>(rank)] != message_of(rank, round)) return 12;
    job.barrier();
  }
  return 0;
}

/// The first process only makes the progress that lets the second one come.
int progress_while_waiting(Job& job) {
  const int gate = std::atoi(std::getenv("JOB_TEST_GATE"));
  bool opened = false;  // used until the last wait has ended
  if (job.rank() == 1) {
    char byte = 0;
    if (read(gate, &byte, 1) != 1) return 30;
  } else {
    const int opener = std::atoi(std::getenv("JOB_TEST_OPENER"));
    job.while_waiting([&opened, opener] {
      if (!opened) opened = write(opener, "x", 1) == 1;
    });
  }
  job.barrier();
  return 0;
}

int expect_unreachable(Job& job) {
  try {
    job.barrier();
  } catch (const Error& error) {
    return error.lath_code() == Code::unreachable ? 21 : 22;
  }
  return 23;
}

[[noreturn]] void wait_for_death() {
  for (;;) pause();
}

/// What a started copy of this program does.
int child(Job& job, std::string_view role) {
  if (role == "exchange") return exchange(job, 3);
  if (role == "exchange_two") return exchange(job, 2);
  if (role == "fail_second") return job.rank() == 1 ? 7 : 0;
  if (role == "one_dies") {
    if (job.rank() == 1) raise(SIGKILL);
    wait_for_death();
  }
  if (role == "one_leaves") return job.rank() == 1 ? 0 : expect_unreachable(job);
  if (role == "progress") return progress_while_waiting(job);
  if (role == "hang") wait_for_death();
  if (role == "two_jobs") {
    if (const int status = exchange(job, 2); status != 0) return status;
    auto second = Job::from_environment();
    return second ? exchange(*second, 2) : 13;
  }
  return 99;
}

int start(int size, const char* role, std::chrono::milliseconds limit = std::chrono::seconds(60)) {
  const std::string arguments[] = {"job_test", role};
  return start_local(size, arguments, limit);
}

TEST(Job, AloneIsItsOwnExchange) {
  Job job;
  const auto mine = message_of(0, 5);
  EXPECT_EQ(job.size(), 1);
  EXPECT_EQ(job.allgather(mine), std::vector<std::vector<std::byte>>(1, mine));
  job.barrier();
}

TEST(Job, NothingInTheEnvironmentIsNoJob) {
  EXPECT_FALSE(Job::from_environment().has_value());
}

TEST(Job, ProcessesExchangeLongAndShortMessages) {
  EXPECT_EQ(start(3, "exchange"), 0);
}

TEST(Job, TheNameIsFreeForTheNextJob) {
  EXPECT_EQ(start(2, "two_jobs"), 0);
}

TEST(Job, TheFirstFailureIsTheStatus) {
  EXPECT_EQ(start(3, "fail_second"), 7);
}

TEST(Job, OneDeathEndsTheOthers) {
  EXPECT_EQ(start(3, "one_dies"), 128 + SIGKILL);
}

TEST(Job, AProcessThatLeavesIsMissed) {
  EXPECT_EQ(start(2, "one_leaves"), 21);
}

TEST(Job, ALimitEndsAHangingJob) {
  EXPECT_EQ(start(2, "hang", std::chrono::milliseconds(200)), 124);
}

TEST(Job, MakesProgressWhileItWaits) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  setenv("JOB_TEST_GATE", std::to_string(ends[0]).c_str(), 1);
  setenv("JOB_TEST_OPENER", std::to_string(ends[1]).c_str(), 1);
  EXPECT_EQ(start(2, "progress"), 0);
  close(ends[0]);
  close(ends[1]);
  unsetenv("JOB_TEST_GATE");
  unsetenv("JOB_TEST_OPENER");
}

/// Starts this program as a launcher would, with its variables, and gives the exit status.
pid_t launch(const std::string& role, const std::vector<std::string>& environment) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
  execl("/proc/self/exe", "job_test", role.c_str(), nullptr);
  _exit(127);
}

int status_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void launched_pair(const char* rank, const char* size) {
  const auto variables = [&](int number) {
    return std::vector{fmt::format("{}={}", rank, number), fmt::format("{}=2", size)};
  };
  const pid_t first = launch("exchange_two", variables(0));
  const pid_t second = launch("exchange_two", variables(1));
  EXPECT_EQ(status_of(first), 0);
  EXPECT_EQ(status_of(second), 0);
}

TEST(Job, FollowsOpenMpi) {
  launched_pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
}

TEST(Job, FollowsPmi) {
  launched_pair("PMI_RANK", "PMI_SIZE");
}

TEST(Job, FollowsSlurm) {
  launched_pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
}

TEST(Job, ABatchScriptIsNoJob) {
  EXPECT_EQ(status_of(launch("exchange_two", {"SLURM_PROCID=0", "SLURM_NTASKS=64"})), 42);
}

TEST(Job, SeveralNodesAreRefused) {
  EXPECT_EQ(status_of(launch("exchange_two", {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4",
                                              "OMPI_COMM_WORLD_LOCAL_SIZE=2"})),
            43);
  EXPECT_EQ(status_of(launch("exchange_two",
                             {"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_NODES=2"})),
            43);
}

TEST(Job, ASizeWithoutANameIsRefused) {
  EXPECT_EQ(status_of(launch("exchange_two", {"LATH_JOB_RANK=0", "LATH_JOB_SIZE=2"})), 46);
}

TEST(Job, AMissingProcessIsNamedInTime) {
  EXPECT_EQ(status_of(launch("exchange_two", {"PMI_RANK=0", "PMI_SIZE=2", "LATH_JOB_TIMEOUT=0"})), 44);
}

int run_child(std::string_view role) {
  try {
    auto job = Job::from_environment();
    return job ? child(*job, role) : 42;
  } catch (const Error& error) {
    if (error.lath_code() == Code::not_supported) return 43;
    if (error.lath_code() == Code::invalid_argument) return 46;
    return std::strstr(error.what(), "1 of 2") != nullptr ? 44 : 45;
  }
}

}  // namespace
}  // namespace lath::transport

int main(int argc, char** argv) {
  // A copy that a test started is told its role; gtest's own arguments begin with a dash.
  if (argc == 2 && argv[1][0] != '-') return lath::transport::run_child(argv[1]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
