#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/config.hpp"
#include "base/error.hpp"
#include "transport/job.hpp"

namespace lath::transport {
namespace {

/// The variables by which one launcher tells a process its place.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_size;  ///< processes on this node, or null
  const char* nodes;       ///< nodes of the job, or null
  const char* job;         ///< a name of the job, or null
};
constexpr Launcher launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr, "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", nullptr, "PMI_JOBID"},
    // In a batch script SLURM_PROCID is set but there is no step, so the step's own size is asked for.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr, "SLURM_STEP_NUM_NODES", "SLURM_STEP_ID"},
};

std::optional<int> number(const char* variable) {
  const char* value = variable == nullptr ? nullptr : std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  int out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc{} || end != text.data() + text.size() || out < 0)
    throw Error(Code::parse, fmt::format("{}='{}' is not a whole number", variable, text));
  return out;
}

void refuse_several_nodes(const Launcher& launcher, int size) {
  const auto local = number(launcher.local_size);
  const auto nodes = number(launcher.nodes);
  if (local && *local < size)
    throw Error(
        Code::not_supported,
        fmt::format("the launcher started {} of {} processes on this node ({}); a job must lie on one "
                    "node",
                    *local, size, launcher.local_size));
  if (nodes && *nodes > 1)
    throw Error(Code::not_supported, fmt::format("the launcher spread the job over {} nodes ({}); a job must "
                                                 "lie on one node",
                                                 *nodes, launcher.nodes));
}

}  // namespace

std::optional<Job> Job::from_environment() {
  if (const auto size = config::integer("LATH_JOB_SIZE"); size > 0) {
    const std::string name = config::text("LATH_JOB_NAME");
    if (name.empty())
      throw Error(Code::invalid_argument,
                  "LATH_JOB_SIZE is set, but not LATH_JOB_NAME, which all processes of the job must share");
    return Job(static_cast<int>(config::integer("LATH_JOB_RANK")), static_cast<int>(size), name);
  }
  for (const Launcher& launcher : launchers) {
    const auto rank = number(launcher.rank);
    const auto size = number(launcher.size);
    if (!rank || !size) continue;
    refuse_several_nodes(launcher, *size);
    const char* job = launcher.job == nullptr ? nullptr : std::getenv(launcher.job);
    // All processes of a node are children of one process of the launcher.
    return Job(*rank, *size,
               fmt::format("lath-job-{}-{}-{:.48}", getuid(), getppid(), job == nullptr ? "" : job));
  }
  return std::nullopt;
}

}  // namespace lath::transport
