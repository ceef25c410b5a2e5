#include "tests/cxi_stand_in/variant.hpp"

#include <cstdlib>
#include <string_view>

namespace lath::cxi_stand_in {
namespace {

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

}  // namespace

Variant variant() {
  Variant variant;
  variant.device_memory = environment("CXI_STAND_IN_HMEM") != "0";
  std::string_view registration = environment("CXI_STAND_IN_MR");
  if (registration.starts_with("odp_")) {
    variant.allocated = false;
    registration.remove_prefix(4);
  }
  if (registration == "prov_key") variant.client_keys = false;
  if (registration == "client_key") variant.provider_keys = false;
  return variant;
}

}  // namespace lath::cxi_stand_in
