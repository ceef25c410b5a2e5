#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "gpu/cuda_api.hpp"
#include "gpu/driver_calls.hpp"

namespace lath::gpu {

/// Counts of driver calls of this process, by the two kinds that reports show.
struct DriverCounts {
  std::atomic<std::uint64_t> calls{0};        ///< submit, copy, allocate, free, record or wait
  std::atomic<std::uint64_t> event_polls{0};  ///< cuEventQuery, cuStreamQuery
};
[[nodiscard]] DriverCounts& driver_counts() noexcept;

enum class CallKind : unsigned char { query, work, poll };

/// One driver function: counts the call by its kind and makes it. A function that the driver does not have
/// answers CUDA_ERROR_NOT_SUPPORTED.
template <CallKind kind, class... Args>
class DriverCall {
 public:
  using Entry = CUresult (*)(Args...);

  CUresult operator()(Args... args) const noexcept {
    if constexpr (kind == CallKind::work) driver_counts().calls.fetch_add(1, std::memory_order_relaxed);
    if constexpr (kind == CallKind::poll) driver_counts().event_polls.fetch_add(1, std::memory_order_relaxed);
    return entry_ == nullptr ? CUDA_ERROR_NOT_SUPPORTED : entry_(args...);
  }
  /// Takes what dlsym gave; may be null.
  void resolve(void* symbol) noexcept { entry_ = reinterpret_cast<Entry>(symbol); }
  [[nodiscard]] bool exists() const noexcept { return entry_ != nullptr; }

 private:
  Entry entry_ = nullptr;
};

/// The driver's functions as members of their own names: `driver()->cuMemAlloc_v2(&pointer, bytes)`.
struct DriverTable {
#define LATH_DRIVER_MEMBER(kind, symbol, ...) DriverCall<CallKind::kind __VA_OPT__(, ) __VA_ARGS__> symbol;
  LATH_DRIVER_CALLS(LATH_DRIVER_MEMBER)
#undef LATH_DRIVER_MEMBER
};

/// The driver's entry points that Lath uses, resolved with dlopen and initialised, or null where LATH_GPU
/// gives none (availability() says why). Thread safe; the answer never changes.
[[nodiscard]] const DriverTable* driver() noexcept;

/// Any function of the loaded driver library by name, such as the emulator's controls
/// (emulator/control.hpp); null where there is none.
[[nodiscard]] void* driver_symbol(const char* name) noexcept;

/// "CUDA_ERROR_INVALID_VALUE: invalid argument", as an Error of Domain::cuda.
[[nodiscard]] Error driver_error(int code, std::string doing);

}  // namespace lath::gpu
