#pragma once

#include "gpu/device.hpp"
#include "gpu/driver.hpp"

namespace lath::gpu {

/// The driver library as loaded at first use: what driver() and availability() are views of.
struct LoadedDriver {
  void* handle = nullptr;  ///< of dlopen()
  DriverTable table;
  Availability availability;
};

/// Loads and initialises once, as LATH_GPU says; never unloads. Thread safe.
const LoadedDriver& loaded_driver() noexcept;

}  // namespace lath::gpu
