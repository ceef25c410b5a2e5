#pragma once

#include <cstdint>
#include <string>

#include "apps/wave/decomposition.hpp"

namespace lath::wave {

/// A face's data as one MPI_Type_vector of doubles: two layers of ghost points, over the whole block in the
/// other directions, ghost points included.
struct HaloType {
  std::int64_t count = 0;
  std::int64_t block_length = 0;  ///< doubles
  std::int64_t stride = 0;        ///< doubles

  [[nodiscard]] std::int64_t bytes() const;
  [[nodiscard]] std::string text() const;  ///< type-spec
};

struct HaloFace {
  HaloType type;
  std::int64_t send_element = 0;     ///< first element of the outermost points that the block updates
  std::int64_t receive_element = 0;  ///< first element of the ghost points
};

[[nodiscard]] HaloFace halo_face(Face face, Order order, const Extents& n);

}  // namespace lath::wave
