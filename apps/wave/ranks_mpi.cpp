#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "apps/wave/ranks.hpp"
#include "base/error.hpp"

namespace lath::wave {
namespace {

class MpiRanks : public Ranks {
 public:
  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiRanks() override { MPI_Finalize(); }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::vector<std::byte>> allgather(std::span<const std::byte> mine) override {
    const auto ranks = static_cast<std::size_t>(size_);
    const auto length = static_cast<std::int64_t>(mine.size());
    std::vector<std::int64_t> lengths(ranks);
    MPI_Allgather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
    std::vector<std::vector<std::byte>> all(ranks);
    for (std::size_t root = 0; root < ranks; ++root) {
      all[root].resize(static_cast<std::size_t>(lengths[root]));
      if (static_cast<int>(root) == rank_) std::copy(mine.begin(), mine.end(), all[root].begin());
      broadcast(all[root], static_cast<int>(root));
    }
    return all;
  }

  void barrier() override {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; done == 0;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  }

 private:
  /// In pieces, because counts are ints.
  static void broadcast(std::vector<std::byte>& bytes, int root) {
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const auto count = static_cast<int>(std::min(piece, bytes.size() - at));
      MPI_Bcast(bytes.data() + at, count, MPI_BYTE, root, MPI_COMM_WORLD);
    }
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

const char* mpi_name() {
  return LATH_WAVE_MPI_NAME;
}

std::unique_ptr<Ranks> mpi_ranks() {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) MPI_Init(nullptr, nullptr);
  auto ranks = std::make_unique<MpiRanks>();
  if (ranks->size() == announced_size()) return ranks;
  return nullptr;
}

}  // namespace lath::wave
