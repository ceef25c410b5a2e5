#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <chrono>

#include "apps/wave/exchange.hpp"
#include "base/error.hpp"

namespace lath::wave {
namespace {

bool takes_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() != 0;
#elif defined(MPICH) && MPICH_NUMVERSION >= 40000000
  int supported = 0;
  MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported);
  return supported != 0;
#else
  return false;
#endif
}

MPI_Datatype make_type(const HaloType& halo) {
  const std::int64_t largest = 0x7fffffff;
  if (halo.count > largest || halo.block_length > largest || halo.stride > largest) {
    throw Error(Code::not_supported, "a face's counts do not fit MPI_Type_vector: " + halo.text());
  }
  MPI_Datatype type;
  MPI_Type_vector(static_cast<int>(halo.count), static_cast<int>(halo.block_length),
                  static_cast<int>(halo.stride), MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

class MpiExchange : public Exchange {
 public:
  MpiExchange(const Block& block, Order order, const std::vector<double*>& fields) : fields_(fields) {
    for (Face face : faces) {
      Side& side = sides_[static_cast<std::size_t>(face)];
      side.halo = halo_face(face, order, block.extents());
      const std::optional<int> neighbour = block.neighbour(face);
      side.neighbour = neighbour ? *neighbour : MPI_PROC_NULL;
      side.type = make_type(side.halo.type);
    }
  }
  ~MpiExchange() override {
    for (Side& side : sides_) MPI_Type_free(&side.type);
  }
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;

  void exchange(std::size_t field) override {
    for (Face face : faces) send_and_receive(fields_[field], face);
  }

  std::vector<FaceReport> report() override {
    std::vector<FaceReport> reports;
    for (Face face : faces) {
      const Side& side = sides_[static_cast<std::size_t>(face)];
      if (side.neighbour == MPI_PROC_NULL) continue;
      reports.push_back({face, side.halo.type.text(), side.halo.type.bytes(), side.halo.type.count, "mpi", -1,
                         side.seconds});
    }
    return reports;
  }

  std::string carrier() const override { return mpi_name(); }

 private:
  struct Side {
    HaloFace halo;
    int neighbour = MPI_PROC_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    double seconds = 0.0;
  };

  /// Sends through one face what the neighbours receive through the opposite one.
  void send_and_receive(double* field, Face face) {
    const auto begin = std::chrono::steady_clock::now();
    Side& out = sides_[static_cast<std::size_t>(face)];
    Side& in = sides_[static_cast<std::size_t>(opposite(face))];
    const int tag = static_cast<int>(face);
    MPI_Sendrecv(field + out.halo.send_element, 1, out.type, out.neighbour, tag,
                 field + in.halo.receive_element, 1, in.type, in.neighbour, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    out.seconds += 0.5 * elapsed.count();
    in.seconds += 0.5 * elapsed.count();
  }

  std::vector<double*> fields_;
  std::array<Side, 4> sides_;
};

}  // namespace

std::unique_ptr<Exchange> mpi_exchange(const Block& block, Order order, Memory memory,
                                       const std::vector<double*>& fields) {
  if (memory == Memory::device && !takes_device_memory()) {
    throw Error(Code::not_supported, std::string(mpi_name()) +
                                         " says that it takes no device memory: use --memory host, or "
                                         "--exchange lath");
  }
  return std::make_unique<MpiExchange>(block, order, fields);
}

}  // namespace lath::wave
