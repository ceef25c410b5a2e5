#include <rdma/fi_errno.h>
#include <sys/uio.h>

#include <memory>

#include "tests/cxi_stand_in/information.hpp"
#include "tests/cxi_stand_in/objects.hpp"
#include "tests/cxi_stand_in/record.hpp"

namespace lath::cxi_stand_in {
namespace {

int register_list(fid* domain, const iovec* list, std::size_t count, std::uint64_t access,
                  std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr** region,
                  void* context) {
  fi_mr_attr attributes{};
  attributes.mr_iov = list;
  attributes.iov_count = count;
  attributes.access = access;
  attributes.offset = offset;
  attributes.requested_key = key;
  attributes.context = context;
  return register_attributes(domain, &attributes, flags, region);
}

int register_range(fid* domain, const void* buffer, std::size_t length, std::uint64_t access,
                   std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr** region,
                   void* context) {
  const iovec range{const_cast<void*>(buffer), length};
  return register_list(domain, &range, 1, access, offset, key, flags, region, context);
}

int close(fid* handle) {
  auto& domain = object<Domain, fid_domain>(handle);
  if (domain.users != 0) return refuse(FI_EBUSY, "a domain is closed before what was opened in it");
  // The carrier stays where messages to a dead peer are stuck in it: that is none of cxi's rules.
  (void)fi_close(&domain.carrier->fid);
  --domain.fabric->users;
  delete &domain;
  return 0;
}

fi_ops object_calls = calls_of_object(close);
fi_ops_mr make_region_calls() {
  fi_ops_mr calls{};
  calls.size = sizeof calls;
  calls.reg = register_range;
  calls.regv = register_list;
  calls.regattr = register_attributes;
  return calls;
}
fi_ops_mr region_calls = make_region_calls();

fi_ops_domain domain_calls() {
  fi_ops_domain calls{};
  calls.size = sizeof calls;
  calls.av_open = open_address_vector;
  calls.cq_open = open_completion_queue;
  calls.endpoint = open_endpoint;
  return calls;
}
fi_ops_domain calls = domain_calls();

}  // namespace

int open_domain(fid_fabric* handle, fi_info* info, fid_domain** result, void* context) {
  auto& fabric = *static_cast<Fabric*>(handle);
  auto domain = std::make_unique<Domain>();
  const int status = fi_domain(fabric.carrier, carrier_information(), &domain->carrier, nullptr);
  if (status != 0) return status;
  domain->fid = {.fclass = FI_CLASS_DOMAIN, .context = context, .ops = &object_calls};
  domain->ops = &calls;
  domain->mr = &region_calls;
  domain->fabric = &fabric;
  domain->provider_keys = (info->domain_attr->mr_mode & FI_MR_PROV_KEY) != 0;
  domain->device_memory = (info->caps & FI_HMEM) != 0;
  ++fabric.users;
  *result = domain.release();
  return 0;
}

}  // namespace lath::cxi_stand_in
