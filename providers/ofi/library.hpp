#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <string>

namespace lath::providers::ofi {

/// libfabric's own symbols, found at run time so that the library starts where libfabric is absent. All else
/// of its interface is inline calls through the objects these return.
struct Library {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  decltype(&::fi_version) version = nullptr;
};

/// Loads libfabric at first use; null where that fails. Never unloaded. Thread safe.
[[nodiscard]] const Library* library() noexcept;
/// Why library() is null.
[[nodiscard]] const std::string& library_reason();

/// The interface version asked of libfabric: that of the headers of this build, for the sizes of its structs.
inline constexpr std::uint32_t api_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

}  // namespace lath::providers::ofi
