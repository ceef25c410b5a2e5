#include "providers/ofi/memory.hpp"

#include <sys/uio.h>

#include "gpu/device.hpp"
#include "providers/ofi/failure.hpp"

namespace lath::providers::ofi {
namespace {

std::uint64_t access_bits(const Endpoint& endpoint, bool writable, bool remote) {
  const bool rma = (endpoint.info.get()->caps & FI_RMA) != 0;
  // FI_WRITE and FI_READ are the local sides of RMA: a write only reads local memory.
  std::uint64_t bits = FI_SEND | (rma ? FI_WRITE : 0);
  if (writable) bits |= FI_RECV | (rma ? FI_READ : 0);
  if (remote) bits |= FI_REMOTE_READ | (writable ? FI_REMOTE_WRITE : 0);
  return bits;
}

}  // namespace

RegisteredMemory::RegisteredMemory(const Endpoint& endpoint, void* address, std::size_t length,
                                   MemoryKind kind, bool writable, bool remote, std::uint64_t key) {
  iovec range{address, length};
  fi_mr_attr attributes{};
  attributes.mr_iov = &range;
  attributes.iov_count = 1;
  attributes.access = access_bits(endpoint, writable, remote);
  attributes.requested_key = key;
  if (kind == MemoryKind::device) {
    attributes.iface = FI_HMEM_CUDA;
    attributes.device.cuda = gpu::memory_info(address).device;
  }
  check(fi_mr_regattr(endpoint.domain.get(), &attributes, 0, region_.receive()), "fi_mr_regattr");
  if (endpoint.needs(FI_MR_ENDPOINT)) {
    check(fi_mr_bind(region_.get(), &endpoint.handle.get()->fid, 0), "fi_mr_bind");
    check(fi_mr_enable(region_.get()), "fi_mr_enable");
  }
  descriptor_ = fi_mr_desc(region_.get());
  if (endpoint.needs(FI_MR_VIRT_ADDR)) remote_address_ = reinterpret_cast<std::uint64_t>(address);
}

}  // namespace lath::providers::ofi
