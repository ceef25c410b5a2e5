#pragma once

#include <cstdint>

#include "datatypes/datatype.hpp"

namespace lath {

/// Digest of a type signature (MPI-4.1 section 5.1: the sequence of basic types, displacements dropped).
/// Equal sequences have equal digests however they were built: count copies of a type have the digest of
/// contiguous(count, type).
struct Signature {
  std::int64_t elements = 0;  ///< basic elements (pair types count two)
  std::uint64_t digest = 0;
  friend bool operator==(const Signature&, const Signature&) = default;
};

Signature signature(const Datatype& type, std::int64_t count);

/// Basic elements wholly contained in the first `bytes` packed bytes; -1 where the last one is cut
/// (MPI_UNDEFINED).
std::int64_t elements_in(const Datatype& type, std::int64_t count, std::int64_t bytes);

}  // namespace lath
