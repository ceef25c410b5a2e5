#include "transport/peer.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <type_traits>

namespace lath::transport {
namespace {

constexpr std::array<char, 8> magic{'L', 'A', 'T', 'H', 'a', 'd', 'r', '1'};

/// What stands before the provider's name and address.
struct Fixed {
  std::array<char, 8> magic = transport::magic;
  std::uint64_t worker = 0;
  std::uint64_t send_list = 0, receive_list = 0, rma_local_list = 0, rma_remote_list = 0;
  std::uint64_t max_message = 0, max_control = 0, tag_mask = 0, queue_depth = 0;
  std::int64_t eager_window = 0;
  std::int64_t bounce_bytes = 0;
  std::uint8_t rma = 0, device_memory = 0, local_registration = 0, gpu = 0, kernels = 0;
  std::uint8_t name_bytes = 0;
  std::uint16_t address_bytes = 0;
};
static_assert(std::is_trivially_copyable_v<Fixed>);

[[noreturn]] void refuse(std::string_view what) {
  throw Error(Code::invalid_argument, fmt::format("not a worker's address: {}", what));
}

void read_abilities(const Fixed& fixed, Abilities& abilities) {
  providers::Limits& limits = abilities.limits;
  limits.send_list = fixed.send_list;
  limits.receive_list = fixed.receive_list;
  limits.rma_local_list = fixed.rma_local_list;
  limits.rma_remote_list = fixed.rma_remote_list;
  limits.max_message = fixed.max_message;
  limits.max_control = fixed.max_control;
  limits.tag_mask = fixed.tag_mask;
  limits.queue_depth = fixed.queue_depth;
  limits.rma = fixed.rma != 0;
  limits.device_memory = fixed.device_memory != 0;
  limits.local_registration = fixed.local_registration != 0;
  abilities.capabilities.gpu = fixed.gpu != 0;
  abilities.capabilities.kernels = fixed.kernels != 0;
  abilities.capabilities.bounce_bytes = fixed.bounce_bytes;
  abilities.eager_window = fixed.eager_window;
}

}  // namespace

std::vector<std::byte> WorkerAddress::encode() const {
  const providers::Limits& limits = abilities.limits;
  Fixed fixed;
  fixed.worker = worker;
  fixed.send_list = limits.send_list;
  fixed.receive_list = limits.receive_list;
  fixed.rma_local_list = limits.rma_local_list;
  fixed.rma_remote_list = limits.rma_remote_list;
  fixed.max_message = limits.max_message;
  fixed.max_control = limits.max_control;
  fixed.tag_mask = limits.tag_mask;
  fixed.queue_depth = limits.queue_depth;
  fixed.eager_window = abilities.eager_window;
  fixed.bounce_bytes = abilities.capabilities.bounce_bytes;
  fixed.rma = limits.rma ? 1 : 0;
  fixed.device_memory = limits.device_memory ? 1 : 0;
  fixed.local_registration = limits.local_registration ? 1 : 0;
  fixed.gpu = abilities.capabilities.gpu ? 1 : 0;
  fixed.kernels = abilities.capabilities.kernels ? 1 : 0;
  fixed.name_bytes = static_cast<std::uint8_t>(provider.size());
  fixed.address_bytes = static_cast<std::uint16_t>(provider_address.size());
  if (fixed.name_bytes != provider.size() || fixed.address_bytes != provider_address.size())
    throw Error(Code::internal, fmt::format("the address of {} is too long", provider));
  std::vector<std::byte> out(sizeof fixed + provider.size() + provider_address.size());
  std::memcpy(out.data(), &fixed, sizeof fixed);
  std::memcpy(out.data() + sizeof fixed, provider.data(), provider.size());
  std::copy(provider_address.begin(), provider_address.end(),
            out.begin() + static_cast<std::ptrdiff_t>(sizeof fixed + provider.size()));
  return out;
}

WorkerAddress WorkerAddress::decode(std::span<const std::byte> bytes) {
  Fixed fixed;
  if (bytes.size() < sizeof fixed) refuse(fmt::format("{} bytes are too few", bytes.size()));
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (fixed.magic != magic) refuse("it does not begin with Lath's mark, or is of another version");
  const std::span<const std::byte> rest = bytes.subspan(sizeof fixed);
  if (rest.size() != std::size_t{fixed.name_bytes} + fixed.address_bytes)
    refuse(fmt::format("{} bytes where it announces {}", bytes.size(),
                       sizeof fixed + fixed.name_bytes + fixed.address_bytes));
  if (fixed.send_list == 0 || fixed.receive_list == 0 || fixed.max_message == 0 || fixed.max_control < 256 ||
      fixed.eager_window < 0 || fixed.bounce_bytes < 0)
    refuse("its limits make no sense");
  WorkerAddress address;
  address.provider.assign(reinterpret_cast<const char*>(rest.data()), fixed.name_bytes);
  address.worker = fixed.worker;
  read_abilities(fixed, address.abilities);
  const std::span<const std::byte> provider_address = rest.subspan(fixed.name_bytes);
  address.provider_address.assign(provider_address.begin(), provider_address.end());
  return address;
}

std::string Peer::name() const {
  return fmt::format("peer {}", source_);
}

}  // namespace lath::transport
