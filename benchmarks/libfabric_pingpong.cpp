#include "benchmarks/libfabric_pingpong.hpp"

#include <fmt/format.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.hpp"
#include "base/unique_handle.hpp"

namespace lath::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t tag = 7;

template <class Object>
struct FabricTraits {
  using type = Object*;
  static constexpr type null() { return nullptr; }
  static void destroy(type object) noexcept { fi_close(&object->fid); }
};
struct InfoTraits {
  using type = fi_info*;
  static constexpr type null() { return nullptr; }
  static void destroy(type info) noexcept { fi_freeinfo(info); }
};
template <class Object>
using Fabric = unique_handle<FabricTraits<Object>>;
using Info = unique_handle<InfoTraits>;

void check(ssize_t result, const char* doing) {
  if (result == 0) return;
  const int code = static_cast<int>(-result);
  throw Error(Domain::libfabric, code, fmt::format("{}: {}", doing, fi_strerror(code)));
}

Info find(const std::string& provider) {
  const Info hints(fi_allocinfo());
  if (!hints) throw Error(Code::no_memory, "fi_allocinfo");
  hints.get()->caps = FI_TAGGED | FI_MSG;
  hints.get()->mode = FI_CONTEXT | FI_CONTEXT2;
  hints.get()->ep_attr->type = FI_EP_RDM;
  hints.get()->fabric_attr->prov_name = strdup(provider.c_str());
  Info found;
  check(fi_getinfo(FI_VERSION(1, 11), nullptr, nullptr, 0, hints.get(), found.receive()),
        "looking for an endpoint of reliable datagrams without registration");
  return found;
}

}  // namespace

struct LibfabricPair::Endpoint {
  Info info;
  Fabric<fid_fabric> fabric;
  Fabric<fid_domain> domain;
  Fabric<fid_cq> queue;
  Fabric<fid_av> addresses;
  Fabric<fid_ep> endpoint;
  fi_addr_t other = FI_ADDR_UNSPEC;
  bool sent = true;
  bool received = true;
  fi_context2 send_context{}, receive_context{};

  explicit Endpoint(const std::string& provider) : info(find(provider)) {
    check(fi_fabric(info.get()->fabric_attr, fabric.receive(), nullptr), "fi_fabric");
    check(fi_domain(fabric.get(), info.get(), domain.receive(), nullptr), "fi_domain");
    fi_cq_attr queue_attributes{};
    queue_attributes.format = FI_CQ_FORMAT_CONTEXT;
    check(fi_cq_open(domain.get(), &queue_attributes, queue.receive(), nullptr), "fi_cq_open");
    fi_av_attr address_attributes{};
    check(fi_av_open(domain.get(), &address_attributes, addresses.receive(), nullptr), "fi_av_open");
    check(fi_endpoint(domain.get(), info.get(), endpoint.receive(), nullptr), "fi_endpoint");
    check(fi_ep_bind(endpoint.get(), &queue.get()->fid, FI_TRANSMIT | FI_RECV), "binding the queue");
    check(fi_ep_bind(endpoint.get(), &addresses.get()->fid, 0), "binding the addresses");
    check(fi_enable(endpoint.get()), "fi_enable");
  }

  void connect(transport::Job& job) {
    std::array<std::byte, 512> mine;
    std::size_t length = mine.size();
    check(fi_getname(&endpoint.get()->fid, mine.data(), &length), "fi_getname");
    const auto all = job.allgather(std::span(mine).first(length));
    const auto& its = all[static_cast<std::size_t>(1 - job.rank())];
    if (fi_av_insert(addresses.get(), its.data(), 1, &other, 0, nullptr) != 1)
      throw Error(Domain::libfabric, FI_EADDRNOTAVAIL, "the other process' address is refused");
  }

  void poll() {
    fi_cq_entry entry{};
    const ssize_t got = fi_cq_read(queue.get(), &entry, 1);
    if (got == 1) {
      if (entry.op_context == &send_context) sent = true;
      if (entry.op_context == &receive_context) received = true;
    } else if (got == -FI_EAVAIL) {
      fi_cq_err_entry error{};
      fi_cq_readerr(queue.get(), &error, 0);
      check(-error.err, "an operation failed");
    } else if (got != -FI_EAGAIN) {
      check(got, "fi_cq_read");
    }
  }

  void post_receive(void* buffer, std::size_t bytes) {
    received = false;
    ssize_t result = 0;
    while ((result = fi_trecv(endpoint.get(), buffer, bytes, nullptr, other, tag, 0, &receive_context)) ==
           -FI_EAGAIN)
      poll();
    check(result, "fi_trecv");
  }

  void send(const void* buffer, std::size_t bytes) {
    const bool inject = bytes <= info.get()->tx_attr->inject_size;
    sent = inject;
    ssize_t result = 0;
    do {
      result = inject ? fi_tinject(endpoint.get(), buffer, bytes, other, tag)
                      : fi_tsend(endpoint.get(), buffer, bytes, nullptr, other, tag, &send_context);
      if (result == -FI_EAGAIN) poll();
    } while (result == -FI_EAGAIN);
    check(result, "fi_tsend");
  }

  void wait_received() {
    while (!received) poll();
  }
  void wait_sent() {
    while (!sent) poll();
  }
};

LibfabricPair::LibfabricPair(transport::Job& job, const std::string& provider)
    : rank_(job.rank()), endpoint_(std::make_unique<Endpoint>(provider)) {
  endpoint_->connect(job);
}

LibfabricPair::~LibfabricPair() = default;

std::vector<double> LibfabricPair::run(const void* outgoing, void* incoming, std::size_t bytes,
                                       std::int64_t iterations) {
  std::vector<double> out;
  Endpoint& end = *endpoint_;
  if (rank_ == 0) {
    out.reserve(static_cast<std::size_t>(iterations));
    auto before = Clock::now();
    for (std::int64_t i = 0; i < iterations; ++i) {
      end.post_receive(incoming, bytes);
      end.send(outgoing, bytes);
      end.wait_received();
      end.wait_sent();
      const auto after = Clock::now();
      out.push_back(std::chrono::duration<double, std::micro>(after - before).count() / 2.0);
      before = after;
    }
    return out;
  }
  end.post_receive(incoming, bytes);
  for (std::int64_t i = 0; i < iterations; ++i) {
    end.wait_received();
    if (i + 1 < iterations) end.post_receive(incoming, bytes);
    end.send(outgoing, bytes);
    end.wait_sent();
  }
  return out;
}

void LibfabricPair::progress() noexcept {
  fi_cq_read(endpoint_->queue.get(), nullptr, 0);
}

}  // namespace lath::benchmarks
