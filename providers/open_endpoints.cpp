#include "providers/open_endpoints.hpp"

#include <unistd.h>

#include <map>
#include <mutex>

#include "providers/peer_process.hpp"

namespace lath::providers {
namespace {

struct Table {
  std::mutex mutex;
  std::map<std::vector<std::byte>, std::shared_ptr<std::atomic<bool>>> flags;
};

Table& table() {
  // Leaked on purpose: workers may be destroyed with static objects.
  static auto* instance = new Table;
  return *instance;
}

}  // namespace

OpenEndpoint::OpenEndpoint(const EndpointAddress& address)
    : endpoint_(encode(address)), closed_(std::make_shared<std::atomic<bool>>(false)) {
  const std::lock_guard lock(table().mutex);
  table().flags[endpoint_] = closed_;
}

OpenEndpoint::~OpenEndpoint() {
  const std::lock_guard lock(table().mutex);
  closed_->store(true, std::memory_order_relaxed);
  table().flags.erase(endpoint_);
}

std::shared_ptr<const std::atomic<bool>> closed_flag(const EndpointAddress& address) {
  if (address.node == 0 || address.node != node_identity() || address.process != getpid()) return nullptr;
  const std::lock_guard lock(table().mutex);
  const auto found = table().flags.find(encode(address));
  return found != table().flags.end() ? found->second : std::make_shared<std::atomic<bool>>(true);
}

}  // namespace lath::providers
