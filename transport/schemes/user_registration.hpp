#pragma once

#include <cstddef>
#include <vector>

#include "base/result.hpp"
#include "providers/registration_cache.hpp"
#include "transport/scheme.hpp"

namespace lath::transport {

/// The registrations that one message's user memory needs, where the provider wants any: pins in the worker's
/// cache, given back with the object.
class UserRegistration {
 public:
  /// Registers everything between the lowest and the highest byte of the buffer at once; where that is
  /// refused, or crosses allocations of a device, and the segments are few, each by itself. Error with the
  /// provider's reason; nothing stays pinned then.
  Result make(providers::RegistrationCache& cache, const providers::Limits& limits, const Buffer& buffer,
              providers::MemoryKind kind, Direction direction) noexcept;

  /// Of the range that holds this address of the buffer; null where none is needed.
  [[nodiscard]] const providers::Registration* of(const void* address) const noexcept;

 private:
  struct Range {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    providers::RegistrationCache::Pin pin;
  };
  Result add(providers::RegistrationCache& cache, std::byte* begin, std::size_t bytes,
             providers::MemoryKind kind, Direction direction);

  std::vector<Range> ranges_;
};

}  // namespace lath::transport
