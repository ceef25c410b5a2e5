#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/wave/decomposition.hpp"
#include "apps/wave/halo.hpp"
#include "apps/wave/processor.hpp"
#include "apps/wave/ranks.hpp"
#include "base/error.hpp"

namespace lath::wave {

/// A failure of this rank's messages, which the other ranks may not have seen.
class ExchangeFailure : public Error {
 public:
  using Error::Error;
};

/// What the exchange of one face came to.
struct FaceReport {
  Face face = Face::x_low;
  std::string type;           ///< type-spec
  std::int64_t bytes = 0;     ///< a message
  std::int64_t segments = 0;  ///< a message
  std::string scheme;         ///< of the sending side / of the receiving side
  std::int64_t copies = -1;   ///< passes of a CPU or kernel over the payload, an exchange; -1: not known
  double seconds = 0.0;       ///< all exchanges together, both directions, until this face was done
};

/// Fills the ghost points of fields from the neighbours' blocks: x first, then y with the corners that x
/// brought.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// `field` is a number into the fields given when made. Their memory must be ready; it is ready again on
  /// return. Throws Error.
  virtual void exchange(std::size_t field) = 0;
  /// Of the faces that have neighbours. Collective: carries out one more exchange of every face.
  [[nodiscard]] virtual std::vector<FaceReport> report() = 0;
  /// "ofi:shm", "Open MPI 4.1.4": what carries the messages.
  [[nodiscard]] virtual std::string carrier() const = 0;
};

/// Through Lath's C API with persistent requests. Throws ExchangeFailure with lath_last_error()'s text.
[[nodiscard]] std::unique_ptr<Exchange> lath_exchange(Ranks& ranks, const Block& block, Order order,
                                                      const std::vector<double*>& fields);

/// Through MPI_Type_vector and MPI_Sendrecv on whatever memory that MPI accepts; throws
/// Error(not_supported) for device memory where it says that it does not take any, or built without MPI.
[[nodiscard]] std::unique_ptr<Exchange> mpi_exchange(const Block& block, Order order, Memory memory,
                                                     const std::vector<double*>& fields);

/// For one rank.
[[nodiscard]] std::unique_ptr<Exchange> no_exchange();

}  // namespace lath::wave
