#pragma once

#include <rdma/fabric.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/cxi_stand_in/rules.hpp"

namespace lath::cxi_stand_in {

struct Endpoint;

enum class RequestKind : std::uint8_t { send, tagged_send, write, read, receive, tagged_receive };

/// One operation from its posting to its end. The carrier's context comes first: it hands back this address.
struct Request {
  fi_context2 carrier{};
  Endpoint* endpoint = nullptr;
  void* context = nullptr;  ///< the application's
  RequestKind kind = RequestKind::send;
  bool reported = true;  ///< whether its success gets an entry
  bool fenced = false;
  bool delivery = false;  ///< FI_DELIVERY_COMPLETE
  fi_addr_t peer = FI_ADDR_UNSPEC;
  void* buffer = nullptr;
  std::size_t length = 0;
  std::uint64_t tag = 0, ignore = 0;
  std::uint64_t remote_address = 0, key = 0;
  std::array<std::byte, most_injected> injected;
};

/// Requests used again and again; all live as long as the pool.
class RequestPool {
 public:
  Request* take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Request>());
      free_.push_back(all_.back().get());
    }
    Request* request = free_.back();
    free_.pop_back();
    return request;
  }
  void give_back(Request* request) { free_.push_back(request); }

 private:
  std::vector<std::unique_ptr<Request>> all_;
  std::vector<Request*> free_;
};

}  // namespace lath::cxi_stand_in
