#include "providers/ofi/memory.hpp"

#include <rdma/fi_errno.h>
#include <sys/uio.h>

#include "gpu/device.hpp"
#include "providers/ofi/failure.hpp"

namespace lath::providers::ofi {
namespace {

/// Keys in use that are stumbled upon before registering is given up.
constexpr int most_attempts = 64;

std::uint64_t access_bits(const Endpoint& endpoint, bool writable, bool remote) {
  const bool rma = (endpoint.info.get()->caps & FI_RMA) != 0;
  // FI_WRITE and FI_READ are the local sides of RMA: a write only reads local memory.
  std::uint64_t bits = FI_SEND | (rma ? FI_WRITE : 0);
  if (writable) bits |= FI_RECV | (rma ? FI_READ : 0);
  if (remote) bits |= FI_REMOTE_READ | (writable ? FI_REMOTE_WRITE : 0);
  return bits;
}

bool needs_descriptor(const Endpoint& endpoint, MemoryKind kind) noexcept {
  return endpoint.needs(FI_MR_LOCAL) || (kind == MemoryKind::device && endpoint.needs(FI_MR_HMEM));
}

/// A status of libfabric, and the call that it came from.
struct Outcome {
  int status;
  const char* call;
};

Outcome try_to_register(const Endpoint& endpoint, const fi_mr_attr& attributes, MemoryRegionHandle& region) {
  int status = fi_mr_regattr(endpoint.domain.get(), &attributes, 0, region.receive());
  if (status != 0 || !endpoint.needs(FI_MR_ENDPOINT)) return {status, "fi_mr_regattr"};
  status = fi_mr_bind(region.get(), &endpoint.handle.get()->fid, 0);
  if (status != 0) return {status, "fi_mr_bind"};
  return {fi_mr_enable(region.get()), "fi_mr_enable"};
}

}  // namespace

bool needs_registration(const Endpoint& endpoint, MemoryKind kind, bool remote) noexcept {
  return remote || needs_descriptor(endpoint, kind);
}

RegisteredMemory::RegisteredMemory(const Endpoint& endpoint, Keys& keys, void* address, std::size_t length,
                                   MemoryKind kind, bool writable, bool remote) {
  iovec range{address, length};
  fi_mr_attr attributes{};
  attributes.mr_iov = &range;
  attributes.iov_count = 1;
  attributes.access = access_bits(endpoint, writable, remote);
  if (kind == MemoryKind::device) {
    attributes.iface = FI_HMEM_CUDA;
    attributes.device.cuda = gpu::memory_info(address).device;
  }
  Outcome outcome{};
  if (endpoint.needs(FI_MR_PROV_KEY)) {
    outcome = try_to_register(endpoint, attributes, region_);
  } else {
    keys_ = &keys;
    own_key_ = remote ? keys.take_for_peers() : keys.take();
    for (int attempt = 1;; ++attempt) {
      attributes.requested_key = own_key_;
      outcome = try_to_register(endpoint, attributes, region_);
      // The device may be short of what optimised keys take, or know an ordinary one still.
      const bool other = own_key_ < Keys::optimised || outcome.status == -FI_ENOKEY;
      if (outcome.status == 0 || !other || attempt == most_attempts) break;
      region_.reset();
      keys.give_back(own_key_);
      own_key_ = keys.take();
    }
    if (outcome.status != 0) keys.give_back(own_key_);
  }
  check(outcome.status, outcome.call);
  key_ = fi_mr_key(region_.get());
  if (needs_descriptor(endpoint, kind)) descriptor_ = fi_mr_desc(region_.get());
  if (endpoint.needs(FI_MR_VIRT_ADDR)) remote_address_ = reinterpret_cast<std::uint64_t>(address);
}

RegisteredMemory::~RegisteredMemory() {
  region_.reset();
  if (keys_ != nullptr) keys_->give_back(own_key_);
}

}  // namespace lath::providers::ofi
