#include <rdma/fi_errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "tests/cxi_stand_in/device_pages.hpp"
#include "tests/cxi_stand_in/objects.hpp"
#include "tests/cxi_stand_in/record.hpp"
#include "tests/cxi_stand_in/rules.hpp"

/// FI_MR_ENDPOINT: a region is bound and enabled before a peer reaches it.
namespace lath::cxi_stand_in {
namespace {

MemoryRegion& region_of(fid* handle) {
  return object<MemoryRegion, fid_mr>(handle);
}

int bind(fid* handle, fid* other, std::uint64_t) {
  MemoryRegion& region = region_of(handle);
  if (other->fclass != FI_CLASS_EP) return refuse(FI_EINVAL, "a region is bound to no endpoint");
  auto& endpoint = object<Endpoint, fid_ep>(other);
  if (region.domain != endpoint.domain) return refuse(FI_EINVAL, "region and endpoint are of two domains");
  if (region.endpoint != nullptr) return refuse(FI_EINVAL, "a region is bound twice");
  if (!endpoint.enabled) return refuse(FI_EINVAL, "a region is bound to an endpoint that is not enabled");
  region.endpoint = &endpoint;
  ++endpoint.regions;
  return 0;
}

int enable(MemoryRegion& region) {
  if (region.endpoint == nullptr) return refuse(FI_EINVAL, "a region is enabled without an endpoint");
  if (region.carrier != nullptr) return refuse(FI_EINVAL, "a region is enabled twice");
  if (!region.remote() || region.length == 0) return 0;
  Domain& domain = *region.domain;
  const std::uint64_t key =
      domain.provider_keys ? provider_key_bit | domain.next_provider_key++ : region.client_key;
  const iovec range{region.address, region.length};
  fi_mr_attr attributes{};
  attributes.mr_iov = &range;
  attributes.iov_count = 1;
  attributes.access = region.access;
  attributes.requested_key = key;
  const int status = fi_mr_regattr(domain.carrier, &attributes, 0, &region.carrier);
  if (status == 0) region.key = key;
  return status;
}

int control(fid* handle, int command, void*) {
  return command == FI_ENABLE ? enable(region_of(handle)) : -FI_EINVAL;
}

int close(fid* handle) {
  MemoryRegion& region = region_of(handle);
  if (region.carrier != nullptr) fi_close(&region.carrier->fid);
  if (region.endpoint != nullptr) --region.endpoint->regions;
  if (region.remote() && !region.domain->provider_keys) region.domain->client_keys.erase(region.client_key);
  --region.domain->users;
  delete &region;
  return 0;
}

fi_ops object_calls = calls_of_object(close, bind, control);

/// Whether the kernel would pin the page at an address. Asked without touching it here.
bool can_be_pinned(const void* address) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return false;
  const bool readable = write(ends[1], address, 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return readable;
}

/// Takes the key that the application chose; peers need one, and nobody else does.
int take_key(MemoryRegion& region) {
  if (!region.remote() || region.domain->provider_keys) return 0;
  if ((region.client_key & ~client_key_mask) != 0)
    return refuse(FI_EKEYREJECTED, "a key of more than 32 bits");
  if (!region.domain->client_keys.insert(region.client_key).second)
    return refuse(FI_ENOKEY, "a key that is in use");
  region.key = region.client_key;
  if (region.client_key < optimised_keys) ++record().optimised;
  return 0;
}

}  // namespace

int register_attributes(fid* handle, const fi_mr_attr* attributes, std::uint64_t flags, fid_mr** result) {
  if (attributes == nullptr || attributes->iov_count == 0)
    return refuse(FI_EINVAL, "a registration without a range");
  if (attributes->iov_count != 1) return refuse(FI_ENOSYS, "a registration of two ranges");
  if ((flags & FI_DIRECTED_RECV) != 0) return refuse(FI_EINVAL, "a registration with FI_DIRECTED_RECV");
  auto region = std::make_unique<MemoryRegion>();
  region->domain = &object<Domain, fid_domain>(handle);
  const iovec& range = attributes->mr_iov[0];
  const Place place = place_of(range.iov_base, range.iov_len);
  if (range.iov_len > 0 && range.iov_base == nullptr) return refuse(FI_EINVAL, "a null range is registered");
  // cxi takes an empty range; the rule is that nothing is to be registered there.
  if (range.iov_len == 0) return refuse(FI_EINVAL, "an empty range is registered");
  if (!place.device && !can_be_pinned(range.iov_base))
    return -FI_EFAULT;  // no rule: what the kernel says of pages without access
  if (place.lost || (place.device && !region->domain->device_memory))
    return refuse(FI_EINVAL, "device memory that cannot be mapped is registered");
  region->address = place.address;
  region->length = range.iov_len;
  region->access = attributes->access;
  region->client_key = attributes->requested_key;
  region->fid = {.fclass = FI_CLASS_MR, .context = attributes->context, .ops = &object_calls};
  region->key = FI_KEY_NOTAVAIL;
  region->mem_desc = region.get();
  const int status = take_key(*region);
  if (status != 0) return status;
  ++region->domain->users;
  ++record().registrations;
  *result = region.release();
  return 0;
}

}  // namespace lath::cxi_stand_in
