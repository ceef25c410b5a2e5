#include "providers/ofi/open.hpp"

#include <sys/mman.h>
#include <sys/uio.h>

#include <array>

#include "base/log.hpp"
#include "gpu/device.hpp"
#include "providers/loop_back.hpp"
#include "providers/ofi/candidates.hpp"
#include "providers/ofi/failure.hpp"
#include "providers/ofi/provider.hpp"

namespace lath::providers::ofi {
namespace {

/// Whether the library registers a range as memory of an accelerator that is not there.
bool registers_as_absent(const Endpoint& endpoint, void* address, std::size_t length) {
  iovec range{address, length};
  fi_mr_attr attributes{};
  attributes.mr_iov = &range;
  attributes.iov_count = 1;
  attributes.access = FI_SEND | FI_RECV;
  attributes.requested_key = ~0U;
  attributes.iface = FI_HMEM_ZE;
  MemoryRegionHandle region;
  return fi_mr_regattr(endpoint.domain.get(), &attributes, 0, region.receive()) == 0;
}

/// Pages that nobody can reach.
class ForbiddenPages {
 public:
  ForbiddenPages() : address_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (address_ == MAP_FAILED) throw Error(Code::no_memory, "no addresses for a page");
  }
  ~ForbiddenPages() { munmap(address_, bytes); }
  ForbiddenPages(const ForbiddenPages&) = delete;
  ForbiddenPages& operator=(const ForbiddenPages&) = delete;

  static constexpr std::size_t bytes = 4096;
  [[nodiscard]] void* address() const { return address_; }

 private:
  void* address_;
};

// Some libraries built without CUDA take device memory all the same and read it with the processor later.
// They give themselves away by taking memory of an accelerator that is not there, and pages without access.
// cxi does not heed which accelerator it is told, but looks at the pages itself.
void refuse_blind_registration(const Endpoint& endpoint) {
  std::array<std::byte, 64> memory{};
  const ForbiddenPages forbidden;
  if (registers_as_absent(endpoint, memory.data(), memory.size()) &&
      registers_as_absent(endpoint, forbidden.address(), ForbiddenPages::bytes))
    throw Error(Code::not_supported, "libfabric registers memory of any kind without looking at it");
}

std::unique_ptr<Provider> open_offer(const std::string& name, Info offer, const Wish& wish) {
  LoopBackMemory memory;
  Endpoint endpoint = open_endpoint(std::move(offer));
  if (wish.device_memory) refuse_blind_registration(endpoint);
  auto provider = std::make_unique<OfiProvider>(name, std::move(endpoint));
  check_messages(*provider, memory);
  if (wish.rma) check_rma(*provider, memory);
  if (wish.device_memory) {
    check_device_memory(*provider, memory);
    provider->adjust_limits().device_memory = true;
  }
  return provider;
}

/// Null with the reasons in `why` where no offer works.
std::unique_ptr<Provider> open_any(const std::string& name, const Wish& wish, std::string& why) {
  why.clear();
  for (Info& offer : offers(name, wish)) {
    const std::string place = offer.get()->domain_attr->name;
    try {
      return open_offer(name, std::move(offer), wish);
    } catch (const Error& error) {
      if (!why.empty()) why += "; ";
      why += "on " + place + ": " + error.what();
    }
  }
  if (why.empty()) why = wish.device_memory ? "fi_getinfo offers no FI_HMEM" : "fi_getinfo offers nothing";
  return nullptr;
}

std::string all_candidates() {
  std::string text;
  for (const std::string& name : candidates()) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing" : text;
}

std::unique_ptr<Provider> open(std::string_view candidate) {
  if (library() == nullptr) throw Error(Code::not_supported, library_reason(), "ofi");
  const std::string name(candidate);
  if (offers(name, {.rma = false, .device_memory = false}).empty())
    throw Error(Code::parse, "libfabric offers no \"" + name + "\" here; it offers " + all_candidates());
  std::string why_not_device = gpu::availability().reason;
  if (gpu::availability().available) {
    auto provider = open_any(name, {.rma = true, .device_memory = true}, why_not_device);
    if (provider != nullptr) return provider;
    log::info("{} is opened for host memory only: {}", name, why_not_device);
  }
  std::string why, why_not_rma;
  auto provider = open_any(name, {.rma = true, .device_memory = false}, why_not_rma);
  if (provider == nullptr) {
    provider = open_any(name, {.rma = false, .device_memory = false}, why);
    if (provider == nullptr) throw Error(Code::not_supported, why_not_rma, name);
    log::info("{} is opened without RMA: {}", name, why_not_rma);
  }
  static_cast<OfiProvider&>(*provider).adjust_limits().device_memory_reason =
      why_not_device.empty() ? "no GPU is in use" : why_not_device;
  return provider;
}

}  // namespace

Family family() {
  return {.name = "ofi", .candidates = candidates, .open = open};
}

}  // namespace lath::providers::ofi
