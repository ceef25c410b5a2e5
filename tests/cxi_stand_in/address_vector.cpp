#include <rdma/fi_errno.h>

#include <memory>

#include "tests/cxi_stand_in/objects.hpp"
#include "tests/cxi_stand_in/record.hpp"

namespace lath::cxi_stand_in {
namespace {

fid_av* carrier_of(fid_av* handle) {
  return static_cast<AddressVector*>(handle)->carrier;
}

int insert(fid_av* handle, const void* addresses, std::size_t count, fi_addr_t* inserted, std::uint64_t flags,
           void* context) {
  return fi_av_insert(carrier_of(handle), addresses, count, inserted, flags, context);
}

int remove(fid_av* handle, fi_addr_t* addresses, std::size_t count, std::uint64_t flags) {
  return fi_av_remove(carrier_of(handle), addresses, count, flags);
}

int lookup(fid_av* handle, fi_addr_t address, void* bytes, std::size_t* length) {
  return fi_av_lookup(carrier_of(handle), address, bytes, length);
}

const char* as_text(fid_av* handle, const void* address, char* text, std::size_t* length) {
  return fi_av_straddr(carrier_of(handle), address, text, length);
}

int close(fid* handle) {
  auto& vector = object<AddressVector, fid_av>(handle);
  if (vector.users != 0) return refuse(FI_EBUSY, "an address vector is closed before its endpoint");
  const int status = fi_close(&vector.carrier->fid);
  if (status != 0) return status;
  --vector.domain->users;
  delete &vector;
  return 0;
}

fi_ops object_calls = calls_of_object(close);
fi_ops_av vector_calls() {
  fi_ops_av calls{};
  calls.size = sizeof calls;
  calls.insert = insert;
  calls.remove = remove;
  calls.lookup = lookup;
  calls.straddr = as_text;
  return calls;
}
fi_ops_av calls = vector_calls();

}  // namespace

int open_address_vector(fid_domain* handle, fi_av_attr* attributes, fid_av** result, void* context) {
  auto& domain = *static_cast<Domain*>(handle);
  auto vector = std::make_unique<AddressVector>();
  const int status = fi_av_open(domain.carrier, attributes, &vector->carrier, nullptr);
  if (status != 0) return status;
  vector->fid = {.fclass = FI_CLASS_AV, .context = context, .ops = &object_calls};
  vector->ops = &calls;
  vector->domain = &domain;
  ++domain.users;
  *result = vector.release();
  return 0;
}

}  // namespace lath::cxi_stand_in
