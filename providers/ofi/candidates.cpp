#include "providers/ofi/candidates.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "providers/kept_signals.hpp"

namespace lath::providers::ofi {
namespace {

constexpr std::string_view family_prefix = "ofi:";

// Best first. What is not named stands before `sockets`, which libfabric itself keeps for compatibility only.
constexpr std::array<std::string_view, 11> preference = {"cxi", "efa", "psm3", "verbs", "opx", "psm2",
                                                         "psm", "tcp", "shm",  "sm2",   "net"};

// Unreliable datagrams under a reliability layer that is unmaintained; bundles whose parts are offered
// anyway.
constexpr std::array<std::string_view, 3> unsuitable = {"udp", "ofi_mrail", "mrail"};

std::string_view core_of(std::string_view provider) {
  return provider.substr(0, provider.find(';'));
}

std::size_t rank(std::string_view core) {
  if (core == "sockets") return preference.size() + 1;
  return static_cast<std::size_t>(std::find(preference.begin(), preference.end(), core) - preference.begin());
}

Info hints_for(const Wish& wish) {
  Info hints(library()->dupinfo(nullptr));
  if (!hints) return hints;
  fi_info& wanted = *hints.get();
  wanted.caps = FI_MSG | FI_TAGGED | (wish.rma ? FI_RMA : 0) | (wish.device_memory ? FI_HMEM : 0);
  wanted.mode = FI_CONTEXT | FI_CONTEXT2;
  wanted.ep_attr->type = FI_EP_RDM;
  fi_domain_attr& domain = *wanted.domain_attr;
  domain.mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT |
                   (wish.device_memory ? FI_MR_HMEM : 0);
  // A worker serialises its calls and polls, so locks and progress threads would only cost.
  domain.threading = FI_THREAD_DOMAIN;
  domain.control_progress = FI_PROGRESS_MANUAL;
  domain.data_progress = FI_PROGRESS_MANUAL;
  domain.resource_mgmt = FI_RM_ENABLED;
  return hints;
}

Info query(const Wish& wish) {
  if (library() == nullptr) return Info();
  const Info hints = hints_for(wish);
  fi_info* found = nullptr;
  const KeptSignals kept;
  if (!hints || library()->getinfo(api_version, nullptr, nullptr, 0, hints.get(), &found) != 0) return Info();
  return Info(found);
}

// 0 for a routable interface or an address that is not of the internet, up to what needs a scope to be used.
int address_rank(const fi_info& info) {
  if (info.src_addr == nullptr) return 0;
  if (info.addr_format == FI_SOCKADDR_IN && info.src_addrlen >= sizeof(sockaddr_in)) {
    sockaddr_in address;
    std::memcpy(&address, info.src_addr, sizeof address);
    return (ntohl(address.sin_addr.s_addr) >> 24) == 127 ? 2 : 0;
  }
  if (info.addr_format == FI_SOCKADDR_IN6 && info.src_addrlen >= sizeof(sockaddr_in6)) {
    sockaddr_in6 address;
    std::memcpy(&address, info.src_addr, sizeof address);
    if (IN6_IS_ADDR_LOOPBACK(&address.sin6_addr)) return 3;
    return IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr) ? 4 : 1;
  }
  return 0;
}

bool same_place(const fi_info& a, const fi_info& b) {
  return std::strcmp(a.fabric_attr->prov_name, b.fabric_attr->prov_name) == 0 &&
         std::strcmp(a.domain_attr->name, b.domain_attr->name) == 0 && a.addr_format == b.addr_format &&
         address_rank(a) == address_rank(b);
}

}  // namespace

std::vector<std::string> candidates() {
  std::vector<std::string> names;
  for (const bool rma : {true, false}) {
    const Info found = query({.rma = rma, .device_memory = false});
    for (const fi_info* info = found.get(); info != nullptr; info = info->next) {
      const std::string_view core = core_of(info->fabric_attr->prov_name);
      if (std::find(unsuitable.begin(), unsuitable.end(), core) != unsuitable.end()) continue;
      std::string name = std::string(family_prefix).append(core);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
  std::stable_sort(names.begin(), names.end(), [](std::string_view a, std::string_view b) {
    return rank(a.substr(family_prefix.size())) < rank(b.substr(family_prefix.size()));
  });
  return names;
}

std::vector<Info> offers(std::string_view candidate, const Wish& wish) {
  std::vector<Info> matching;
  if (candidate.starts_with(family_prefix)) candidate.remove_prefix(family_prefix.size());
  const Info found = query(wish);
  for (const fi_info* info = found.get(); info != nullptr; info = info->next) {
    const std::string_view provider = info->fabric_attr->prov_name;
    if (provider != candidate && core_of(provider) != candidate) continue;
    const bool seen = std::any_of(matching.begin(), matching.end(),
                                  [&](const Info& other) { return same_place(*other.get(), *info); });
    if (!seen) matching.emplace_back(library()->dupinfo(info));
  }
  const auto order = [](const Info& info) {
    const bool layered = std::strchr(info.get()->fabric_attr->prov_name, ';') != nullptr;
    return std::pair(layered, address_rank(*info.get()));
  };
  std::stable_sort(matching.begin(), matching.end(),
                   [&](const Info& a, const Info& b) { return order(a) < order(b); });
  return matching;
}

}  // namespace lath::providers::ofi
