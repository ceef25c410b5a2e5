#pragma once

namespace lath::cxi_stand_in {

/// What CXI_STAND_IN_MR and CXI_STAND_IN_HMEM say.
struct Variant {
  bool provider_keys = true;  ///< offers FI_MR_PROV_KEY
  bool client_keys = true;    ///< offers keys that the application chooses
  bool allocated = true;      ///< FI_MR_ALLOCATED; without: on-demand paging
  bool device_memory = true;  ///< FI_HMEM is offered
};

/// CXI_STAND_IN_MR is one of prov_key, client_key, odp_prov_key and odp_client_key, or unset: cxi's own
/// default, provider keys before client keys. CXI_STAND_IN_HMEM=0 takes FI_HMEM away.
[[nodiscard]] Variant variant();

}  // namespace lath::cxi_stand_in
