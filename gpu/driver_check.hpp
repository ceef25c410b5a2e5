#pragma once

#include "base/result.hpp"
#include "gpu/device.hpp"
#include "gpu/driver.hpp"

namespace lath::gpu {

/// The data path's view of a driver call's answer.
inline Result result_of(CUresult code, const char* doing) noexcept {
  return code == CUDA_SUCCESS ? Result::done() : Result::failure(driver_error(static_cast<int>(code), doing));
}

/// Set-up's: throws Error of Domain::cuda.
inline void throw_unless_success(CUresult code, std::string doing) {
  if (code != CUDA_SUCCESS) throw driver_error(static_cast<int>(code), std::move(doing));
}

}  // namespace lath::gpu
