#include "apps/wave/exchange.hpp"
#include "apps/wave/ranks.hpp"
#include "base/error.hpp"

namespace lath::wave {

const char* mpi_name() {
  return "none";
}

std::unique_ptr<Ranks> mpi_ranks() {
  return nullptr;
}

std::unique_ptr<Exchange> mpi_exchange(const Block&, Order, Memory, const std::vector<double*>&) {
  throw Error(Code::not_supported, "this lath-wave was built without MPI (meson option mpi)");
}

}  // namespace lath::wave
