#pragma once

#include <cstddef>

#include "base/error.hpp"

namespace lath::transport {

/// What a worker hands to its provider as the context of an operation. Stays where it is until completed().
class Operation {
 public:
  /// The operation ended. Only notes it: what follows is done by the next step of progress.
  virtual void completed(std::size_t bytes, const Error* error) = 0;

 protected:
  ~Operation() = default;
};

}  // namespace lath::transport
