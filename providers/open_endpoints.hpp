#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "providers/endpoint_address.hpp"

/// Endpoints that are open in this process. A device that joins two endpoints of one process by plain
/// pointers must not be used towards a closed one, and the process' life tells nothing of it.
namespace lath::providers {

/// Names an endpoint as open while it lives. Thread safe.
class OpenEndpoint {
 public:
  explicit OpenEndpoint(const EndpointAddress& address);
  ~OpenEndpoint();
  OpenEndpoint(const OpenEndpoint&) = delete;
  OpenEndpoint& operator=(const OpenEndpoint&) = delete;

 private:
  std::vector<std::byte> endpoint_;
  std::shared_ptr<std::atomic<bool>> closed_;
};

/// The flag that tells when an endpoint of this process is closed; set already where it is not open now. Null
/// where the address is of another process. Thread safe.
[[nodiscard]] std::shared_ptr<const std::atomic<bool>> closed_flag(const EndpointAddress& address);

}  // namespace lath::providers
