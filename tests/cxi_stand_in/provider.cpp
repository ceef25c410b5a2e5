#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

#include <memory>

#include "tests/cxi_stand_in/information.hpp"
#include "tests/cxi_stand_in/objects.hpp"
#include "tests/cxi_stand_in/record.hpp"

/// What libfabric finds in libcxi-fi.so.
namespace lath::cxi_stand_in {
namespace {

int close(fid* handle) {
  auto& fabric = object<Fabric, fid_fabric>(handle);
  if (fabric.users != 0) return refuse(FI_EBUSY, "a fabric is closed before its domain");
  (void)fi_close(&fabric.carrier->fid);
  delete &fabric;
  return 0;
}

fi_ops object_calls = calls_of_object(close);

fi_ops_fabric fabric_calls() {
  fi_ops_fabric calls{};
  calls.size = sizeof calls;
  calls.domain = open_domain;
  return calls;
}
fi_ops_fabric calls = fabric_calls();

int open_fabric(fi_fabric_attr*, fid_fabric** result, void* context) {
  if (carrier_information() == nullptr) return -FI_ENODATA;
  auto fabric = std::make_unique<Fabric>();
  const int status = fi_fabric(carrier_information()->fabric_attr, &fabric->carrier, nullptr);
  if (status != 0) return status;
  fabric->fid = {.fclass = FI_CLASS_FABRIC, .context = context, .ops = &object_calls};
  fabric->ops = &calls;
  fabric->api_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  *result = fabric.release();
  return 0;
}

fi_provider provider() {
  fi_provider provider{};
  provider.version = FI_VERSION(0, 1);
  provider.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  provider.name = "cxi";
  provider.getinfo = information;
  provider.fabric = open_fabric;
  provider.cleanup = write_record;
  return provider;
}

}  // namespace
}  // namespace lath::cxi_stand_in

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
  static fi_provider instance = lath::cxi_stand_in::provider();
  return &instance;
}
