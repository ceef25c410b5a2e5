#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "gpu/cuda_api.hpp"

namespace lath::gpu {

/// Counts of driver calls of this process, by the two kinds that reports show.
struct DriverCounts {
  std::atomic<std::uint64_t> calls{0};        ///< submit, copy, allocate, record or wait
  std::atomic<std::uint64_t> event_polls{0};  ///< cuEventQuery
};
[[nodiscard]] DriverCounts& driver_counts() noexcept;

/// The driver's entry points that Lath uses, resolved with dlopen, or null where LATH_GPU gives none
/// (availability() says why).
[[nodiscard]] const DriverTable* driver() noexcept;

/// "CUDA_ERROR_INVALID_VALUE: invalid argument", as an Error of Domain::cuda.
[[nodiscard]] Error driver_error(int code, std::string doing);

}  // namespace lath::gpu
