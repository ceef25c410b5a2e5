#include "tests/cxi_stand_in/rules.hpp"

#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sys/uio.h>

#include <array>
#include <chrono>
#include <cstring>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/stream.hpp"
#include "tests/cxi_stand_in/counts.hpp"

/// That the stand-in refuses what cxi refuses, and carries the rest.
namespace lath::cxi_stand_in {
namespace {

constexpr std::uint32_t version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
constexpr int every_mode =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_HMEM;

/// One endpoint that talks to itself, closed in the order that cxi demands.
class Rules : public testing::Test {
 protected:
  void open(bool provider_keys, std::uint64_t caps = FI_MSG | FI_TAGGED | FI_RMA | FI_HMEM) {
    fi_info* hints = fi_allocinfo();
    hints->caps = caps;
    hints->domain_attr->mr_mode = provider_keys ? every_mode : every_mode & ~FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup("cxi");
    ASSERT_EQ(fi_getinfo(version, nullptr, nullptr, 0, hints, &info), 0);
    fi_freeinfo(hints);
    info->tx_attr->size = 8;
    info->rx_attr->size = 8;
    ASSERT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
    ASSERT_EQ(fi_domain(fabric, info, &domain, nullptr), 0);
    fi_av_attr addresses{};
    ASSERT_EQ(fi_av_open(domain, &addresses, &vector, nullptr), 0);
    fi_cq_attr completions{};
    completions.format = FI_CQ_FORMAT_TAGGED;
    completions.size = 64;
    ASSERT_EQ(fi_cq_open(domain, &completions, &queue, nullptr), 0);
    ASSERT_EQ(fi_endpoint(domain, info, &endpoint, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION), 0);
    EXPECT_EQ(fi_enable(endpoint), -FI_ENOAV);
    ASSERT_EQ(fi_ep_bind(endpoint, &vector->fid, 0), 0);
    ASSERT_EQ(fi_enable(endpoint), 0);
    std::array<char, 64> name{};
    std::size_t length = name.size();
    ASSERT_EQ(fi_getname(&endpoint->fid, name.data(), &length), 0);
    ASSERT_EQ(fi_av_insert(vector, name.data(), 1, &self, 0, nullptr), 1);
  }
  void SetUp() override { open(true); }
  void TearDown() override {
    for (fid* object : {&endpoint->fid, &queue->fid, &vector->fid, &domain->fid, &fabric->fid})
      EXPECT_EQ(fi_close(object), 0);
    fi_freeinfo(info);
  }
  void reopen(bool provider_keys, std::uint64_t caps) {
    TearDown();
    open(provider_keys, caps);
  }

  ssize_t send(const void* data, std::size_t length, std::uint64_t flags) {
    const iovec list{const_cast<void*>(data), length};
    fi_msg message{};
    message.msg_iov = &list;
    message.iov_count = 1;
    message.addr = self;
    message.context = &context;
    return fi_sendmsg(endpoint, &message, flags);
  }
  ssize_t write(const void* data, std::size_t length, std::uint64_t key, std::uint64_t flags,
                std::uint64_t offset = 0) {
    const iovec list{const_cast<void*>(data), length};
    const fi_rma_iov target{offset, length, key};
    fi_msg_rma message{};
    message.msg_iov = &list;
    message.iov_count = 1;
    message.addr = self;
    message.rma_iov = &target;
    message.rma_iov_count = 1;
    message.context = &context;
    return fi_writemsg(endpoint, &message, flags);
  }
  /// Reads the queue until so many entries have come.
  std::size_t await(std::size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    std::size_t got = 0;
    while (got < count && std::chrono::steady_clock::now() < end) {
      std::array<fi_cq_tagged_entry, 4> entries;
      const ssize_t read = fi_cq_read(queue, entries.data(), entries.size());
      if (read > 0) got += static_cast<std::size_t>(read);
    }
    return got;
  }
  fid_mr* exposed(void* address, std::size_t length, std::uint64_t key = 0) {
    fid_mr* region = nullptr;
    EXPECT_EQ(
        fi_mr_reg(domain, address, length, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, key, 0, &region, nullptr), 0);
    EXPECT_EQ(fi_mr_bind(region, &endpoint->fid, 0), 0);
    EXPECT_EQ(fi_mr_enable(region), 0);
    return region;
  }

  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* vector = nullptr;
  fid_cq* queue = nullptr;
  fid_ep* endpoint = nullptr;
  fi_addr_t self = FI_ADDR_UNSPEC;
  int context = 0;
  std::array<char, 4096> data{};
};

TEST_F(Rules, OffersTheAttributesOfCxi) {
  EXPECT_STREQ(info->fabric_attr->prov_name, "cxi");
  EXPECT_EQ(info->tx_attr->iov_limit, 1U);
  EXPECT_EQ(info->rx_attr->iov_limit, 1U);
  EXPECT_EQ(info->tx_attr->rma_iov_limit, 1U);
  EXPECT_EQ(info->tx_attr->inject_size, 192U);
  EXPECT_EQ(info->ep_attr->max_msg_size, 0xffffffffU);
  EXPECT_EQ(info->ep_attr->mem_tag_format, 0xaaaaaaaaaaaaU);
  EXPECT_EQ(info->domain_attr->data_progress, FI_PROGRESS_MANUAL);
  EXPECT_EQ(info->domain_attr->mr_mode, FI_MR_ENDPOINT | FI_MR_PROV_KEY | FI_MR_ALLOCATED);
}

TEST_F(Rules, NobodyWhoLacksEndpointRegionsIsServed) {
  fi_info* hints = fi_allocinfo();
  hints->caps = FI_MSG | FI_RMA;
  hints->domain_attr->mr_mode = every_mode & ~FI_MR_ENDPOINT;
  hints->fabric_attr->prov_name = strdup("cxi");
  fi_info* none = nullptr;
  EXPECT_EQ(fi_getinfo(version, nullptr, nullptr, 0, hints, &none), -FI_ENODATA);
  fi_freeinfo(hints);
}

TEST_F(Rules, MessagesAloneNeedNoRegions) {
  fi_info* hints = fi_allocinfo();
  hints->caps = FI_MSG;
  hints->fabric_attr->prov_name = strdup("cxi");
  fi_info* found = nullptr;
  ASSERT_EQ(fi_getinfo(version, nullptr, nullptr, 0, hints, &found), 0);
  EXPECT_EQ(found->domain_attr->mr_mode, 0);
  EXPECT_EQ(found->caps & (FI_RMA | FI_TAGGED | FI_HMEM), 0U);
  fi_freeinfo(hints);
  fi_freeinfo(found);
}

TEST_F(Rules, AListOfTwoIsRefused) {
  const std::array<iovec, 2> list{{{data.data(), 8}, {data.data() + 16, 8}}};
  fi_msg message{};
  message.msg_iov = list.data();
  message.iov_count = 2;
  message.addr = self;
  EXPECT_EQ(fi_sendmsg(endpoint, &message, 0), -FI_EINVAL);
  EXPECT_EQ(fi_recvmsg(endpoint, &message, 0), -FI_EINVAL);
  fi_msg_tagged tagged{};
  tagged.msg_iov = list.data();
  tagged.iov_count = 2;
  tagged.addr = self;
  EXPECT_EQ(fi_tsendmsg(endpoint, &tagged, 0), -FI_EINVAL);
  EXPECT_EQ(fi_trecvmsg(endpoint, &tagged, 0), -FI_EINVAL);
  const std::array<fi_rma_iov, 2> remote{{{0, 8, 1}, {8, 8, 1}}};
  fi_msg_rma rma{};
  rma.msg_iov = list.data();
  rma.iov_count = 2;
  rma.addr = self;
  rma.rma_iov = remote.data();
  rma.rma_iov_count = 1;
  EXPECT_EQ(fi_writemsg(endpoint, &rma, 0), -FI_EINVAL);
  rma.iov_count = 1;
  rma.rma_iov_count = 2;
  EXPECT_EQ(fi_readmsg(endpoint, &rma, 0), -FI_EINVAL);
}

TEST_F(Rules, MessagesTagsAndInjectionsHaveTheirLimits) {
  EXPECT_EQ(send(data.data(), longest_message + 1, 0), -FI_EMSGSIZE);
  EXPECT_EQ(send(data.data(), most_injected + 1, FI_INJECT), -FI_EMSGSIZE);
  EXPECT_EQ(fi_inject(endpoint, data.data(), most_injected + 1, self), -FI_EMSGSIZE);
  EXPECT_EQ(fi_tsend(endpoint, data.data(), 8, nullptr, self, tag_mask + 1, &context), -FI_EINVAL);
  EXPECT_EQ(fi_trecv(endpoint, data.data(), 8, nullptr, self, tag_mask + 1, 0, &context), -FI_EINVAL);
  EXPECT_EQ(send(nullptr, 8, 0), -FI_EINVAL);
  EXPECT_EQ(write(data.data(), 8, 1, FI_REMOTE_CQ_DATA), -FI_EBADFLAGS);
}

TEST_F(Rules, ARegionIsBoundAndEnabledBeforePeersReachIt) {
  fid_mr* region = nullptr;
  ASSERT_EQ(fi_mr_reg(domain, data.data(), 64, FI_REMOTE_WRITE, 0, 0, 0, &region, nullptr), 0);
  EXPECT_EQ(fi_mr_enable(region), -FI_EINVAL) << "unbound";
  EXPECT_EQ(fi_mr_key(region), FI_KEY_NOTAVAIL);
  EXPECT_EQ(write(data.data() + 64, 8, fi_mr_key(region), 0), -FI_EKEYREJECTED);
  ASSERT_EQ(fi_mr_bind(region, &endpoint->fid, 0), 0);
  EXPECT_EQ(fi_mr_bind(region, &endpoint->fid, 0), -FI_EINVAL);
  ASSERT_EQ(fi_mr_enable(region), 0);
  EXPECT_NE(fi_mr_key(region), FI_KEY_NOTAVAIL);
  EXPECT_EQ(fi_close(&endpoint->fid), -FI_EBUSY) << "its region is there";
  std::memset(data.data() + 64, 7, 8);
  ASSERT_EQ(write(data.data() + 64, 8, fi_mr_key(region), FI_COMPLETION | FI_DELIVERY_COMPLETE, 16), 0);
  ASSERT_EQ(await(1), 1U);
  EXPECT_EQ(data[16], 7);
  EXPECT_EQ(fi_close(&region->fid), 0);
  EXPECT_EQ(fi_mr_reg(domain, nullptr, 64, FI_REMOTE_WRITE, 0, 0, 0, &region, nullptr), -FI_EINVAL);
  EXPECT_EQ(fi_mr_reg(domain, data.data(), 0, FI_REMOTE_WRITE, 0, 0, 0, &region, nullptr), -FI_EINVAL);
}

TEST_F(Rules, KeysThatTheApplicationChoosesAreShortAndUnlike) {
  reopen(false, FI_MSG | FI_TAGGED | FI_RMA);
  const auto before = counts();
  fid_mr* first = exposed(data.data(), 64, 3);
  fid_mr* second = nullptr;
  EXPECT_EQ(fi_mr_reg(domain, data.data(), 64, FI_REMOTE_READ, 0, 3, 0, &second, nullptr), -FI_ENOKEY);
  EXPECT_EQ(fi_mr_reg(domain, data.data(), 64, FI_REMOTE_READ, 0, 1ULL << 32, 0, &second, nullptr),
            -FI_EKEYREJECTED);
  second = exposed(data.data(), 64, 100);
  EXPECT_EQ(fi_mr_key(first), 3U);
  EXPECT_EQ(counts().optimised - before.optimised, 1U);
  EXPECT_EQ(fi_close(&first->fid), 0);
  EXPECT_EQ(fi_close(&second->fid), 0);
}

TEST_F(Rules, TheQueueAskedForIsKept) {
  for (std::size_t i = 0; i < 8; ++i) ASSERT_EQ(send(data.data(), 8, FI_COMPLETION), 0);
  EXPECT_EQ(send(data.data(), 8, FI_COMPLETION), -FI_EAGAIN);
  for (std::size_t i = 0; i < 8; ++i)
    ASSERT_EQ(fi_recv(endpoint, data.data() + 64 * i, 64, nullptr, FI_ADDR_UNSPEC, &context), 0);
  EXPECT_EQ(fi_recv(endpoint, data.data(), 64, nullptr, FI_ADDR_UNSPEC, &context), -FI_EAGAIN);
  EXPECT_EQ(await(8), 8U) << "of the sends: no receive asked for an entry";
  EXPECT_EQ(send(data.data(), 8, 0), 0);
}

TEST_F(Rules, MoreWaitsForTheDoorbell) {
  fid_mr* region = exposed(data.data(), 64);
  const std::uint64_t key = fi_mr_key(region);
  const auto before = counts();
  ASSERT_EQ(write(data.data() + 64, 8, key, FI_COMPLETION | FI_MORE), 0);
  std::array<fi_cq_tagged_entry, 4> entries;
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(fi_cq_read(queue, entries.data(), 4), -FI_EAGAIN);
  EXPECT_EQ(counts().doorbells, before.doorbells);
  ASSERT_EQ(write(data.data() + 64, 8, key, FI_COMPLETION), 0);
  EXPECT_EQ(await(2), 2U);
  EXPECT_EQ(counts().operations - before.operations, 2U);
  EXPECT_EQ(counts().doorbells - before.doorbells, 1U);
  EXPECT_EQ(counts().batches - before.batches, 1U);
  EXPECT_EQ(fi_close(&region->fid), 0);
}

TEST_F(Rules, AFenceWaitsForAllBeforeIt) {
  reopen(true, FI_MSG | FI_TAGGED | FI_RMA | FI_FENCE);
  fid_mr* region = exposed(data.data(), 64);
  const std::uint64_t key = fi_mr_key(region);
  for (char i = 0; i < 4; ++i) {
    data[static_cast<std::size_t>(64 + i)] = static_cast<char>(i + 1);
    ASSERT_EQ(write(data.data() + 64 + i, 1, key, FI_MORE, static_cast<std::uint64_t>(i)), 0);
  }
  ASSERT_EQ(write(data.data() + 68, 1, key, FI_COMPLETION | FI_FENCE | FI_DELIVERY_COMPLETE, 4), 0);
  ASSERT_EQ(await(1), 1U) << "one entry for the batch";
  EXPECT_EQ(data[3], 4);
  EXPECT_EQ(fi_close(&region->fid), 0);
}

TEST_F(Rules, DeviceMemoryIsReachedButNotInjected) {
  if (!gpu::availability().available) GTEST_SKIP() << gpu::availability().reason;
  const gpu::DeviceBuffer source(0, 64), target(0, 64);
  std::memset(data.data(), 5, 64);
  ASSERT_TRUE(gpu::copy_and_wait(source.data(), data.data(), 64).is_done());
  EXPECT_EQ(fi_inject(endpoint, source.data(), 8, self), -FI_EINVAL);
  EXPECT_EQ(send(source.data(), 8, FI_INJECT), -FI_EINVAL);
  EXPECT_EQ(send(source.data(), std::size_t{1} << 20, 0), -FI_EINVAL) << "past the allocation";
  fid_mr* region = exposed(target.data(), 64);
  ASSERT_EQ(write(source.data(), 64, fi_mr_key(region), FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
  ASSERT_EQ(await(1), 1U);
  std::memset(data.data(), 0, 64);
  ASSERT_TRUE(gpu::copy_and_wait(data.data(), target.data(), 64).is_done());
  EXPECT_EQ(data[63], 5);
  EXPECT_EQ(fi_close(&region->fid), 0);

  reopen(true, FI_MSG | FI_TAGGED | FI_RMA);
  EXPECT_EQ(send(source.data(), 8, 0), -FI_EINVAL) << "FI_HMEM was not asked for";
}

}  // namespace
}  // namespace lath::cxi_stand_in
