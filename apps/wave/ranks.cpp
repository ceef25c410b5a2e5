#include "apps/wave/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "transport/job.hpp"

namespace lath::wave {
namespace {

class JobRanks : public Ranks {
 public:
  explicit JobRanks(transport::Job job) : job_(std::move(job)) {}
  int rank() const override { return job_.rank(); }
  int size() const override { return job_.size(); }
  std::vector<std::vector<std::byte>> allgather(std::span<const std::byte> mine) override {
    return job_.allgather(mine);
  }
  void barrier() override { job_.barrier(); }

 private:
  transport::Job job_;
};

int number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

std::unique_ptr<Ranks> lone_rank() {
  return std::make_unique<JobRanks>(transport::Job());
}

int announced_size() {
  return std::max({1, number("OMPI_COMM_WORLD_SIZE"), number("PMI_SIZE"), number("SLURM_NTASKS")});
}

std::unique_ptr<Ranks> join_ranks(bool needs_mpi) {
  const bool own_job = std::getenv("LATH_JOB_NAME") != nullptr;
  if (!own_job && announced_size() > 1) {
    if (std::unique_ptr<Ranks> ranks = mpi_ranks()) return ranks;
  }
  if (needs_mpi && (own_job || announced_size() > 1)) {
    throw Error(
        Code::not_supported,
        fmt::format("--exchange mpi needs an mpiexec of the MPI that lath-wave was built with ({}); these "
                    "processes were started by something else",
                    mpi_name()));
  }
  if (std::optional<transport::Job> job = transport::Job::from_environment()) {
    return std::make_unique<JobRanks>(std::move(*job));
  }
  return lone_rank();
}

}  // namespace lath::wave
