#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "providers/provider.hpp"
#include "transport/scheme.hpp"

namespace lath::transport {

/// The registrations of one message's user memory, where the provider wants any. They end with the object.
class UserRegistration {
 public:
  /// Registers everything between the lowest and the highest byte of the buffer at once; where that is
  /// refused, and the segments are few, each by itself, since the gaps may be what cannot be registered.
  /// Error with the provider's reason; nothing stays registered then.
  Result make(providers::Provider& provider, const Buffer& buffer, providers::MemoryKind kind,
              Direction direction) noexcept;

  /// Of the range that holds this address of the buffer; null where none is needed.
  [[nodiscard]] const providers::Registration* of(const void* address) const noexcept;

 private:
  struct Range {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::unique_ptr<providers::Registration> registration;
  };
  Result add(providers::Provider& provider, std::byte* begin, std::size_t bytes, providers::MemoryKind kind,
             Direction direction);

  std::vector<Range> ranges_;
};

}  // namespace lath::transport
