#include "providers/verbs/device.hpp"

#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "providers/verbs/failure.hpp"

namespace lath::providers::verbs {
namespace {

// The table of a port may have a thousand entries, nearly all of them empty.
constexpr int most_gids = 64;
constexpr std::uint8_t most_hops = 64;

struct FreeList {
  void operator()(ibv_device** list) const noexcept { library()->free_device_list(list); }
};
using DeviceList = std::unique_ptr<ibv_device*, FreeList>;

DeviceList list_devices(int& count) {
  count = 0;
  if (library() == nullptr) return nullptr;
  return DeviceList(library()->get_device_list(&count));
}

bool is_routable(const std::string& device, std::uint8_t port, int index) {
  std::ifstream file(
      fmt::format("/sys/class/infiniband/{}/ports/{}/gid_attrs/types/{}", device, port, index));
  std::string type;
  return std::getline(file, type) && type.find("RoCE v2") != std::string::npos;
}

std::vector<GidEntry> gid_table(const Device& device) {
  std::vector<GidEntry> table;
  for (int index = 0; index < std::min(device.link.gid_tbl_len, most_gids); ++index) {
    GidEntry entry;
    if (library()->query_gid(device.context.get(), device.port, index, &entry.gid) != 0) continue;
    entry.index = static_cast<std::uint8_t>(index);
    entry.routable = is_routable(device.name, device.port, index);
    table.push_back(entry);
  }
  return table;
}

void choose_port(Device& device) {
  for (int port = 1; port <= device.granted.phys_port_cnt; ++port) {
    device.port = static_cast<std::uint8_t>(port);
    device.link = {};
    check(library()->query_port(device.context.get(), device.port, &device.link), "ibv_query_port");
    if (device.link.state == IBV_PORT_ACTIVE) return;
  }
  throw Error(Code::not_supported, "no port of the device is active", device.name);
}

void choose_route(Device& device) {
  if (device.link.link_layer == IBV_LINK_LAYER_ETHERNET) {
    device.gid = choose_gid(gid_table(device));
    if (!device.gid)
      throw Error(Code::not_supported, "the port has no GID: its network interface has no address",
                  device.name);
    return;
  }
  GidEntry first;
  if (library()->query_gid(device.context.get(), device.port, 0, &first.gid) == 0) device.gid = first;
}

}  // namespace

ibv_ah_attr Device::route_to(const Address& peer) const noexcept {
  ibv_ah_attr route{};
  route.port_num = port;
  route.dlid = peer.lid;
  // Within one InfiniBand subnet the LID leads to the port; RoCE, and other subnets, need the header.
  const bool ethernet = link.link_layer == IBV_LINK_LAYER_ETHERNET;
  const bool same_subnet = gid && gid->gid.global.subnet_prefix == peer.gid.global.subnet_prefix;
  if (ethernet || (gid && peer.global() && !same_subnet)) {
    route.is_global = 1;
    route.grh.dgid = peer.gid;
    route.grh.sgid_index = gid ? gid->index : 0;
    route.grh.hop_limit = most_hops;
  }
  return route;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  int count = 0;
  const DeviceList list = list_devices(count);
  for (int i = 0; list != nullptr && i < count; ++i)
    // iWARP connects through librdmacm only.
    if (list.get()[i]->transport_type == IBV_TRANSPORT_IB)
      names.emplace_back(library()->get_device_name(list.get()[i]));
  return names;
}

Device open_device(std::string_view name) {
  Device device;
  device.name = name;
  int count = 0;
  const DeviceList list = list_devices(count);
  for (int i = 0; list != nullptr && i < count && !device.context; ++i)
    if (name == library()->get_device_name(list.get()[i]))
      device.context.reset(check_object(library()->open_device(list.get()[i]), "ibv_open_device"));
  if (!device.context) throw Error(Code::parse, fmt::format("there is no RDMA device \"{}\"", name));
  check(library()->query_device(device.context.get(), &device.granted), "ibv_query_device");
  choose_port(device);
  choose_route(device);
  device.domain.reset(check_object(library()->alloc_pd(device.context.get()), "ibv_alloc_pd"));
  return device;
}

}  // namespace lath::providers::verbs
