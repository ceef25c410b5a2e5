#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>

/// What libfabric's cxi provider grants and refuses: prov/cxi/include/cxip.h and cxip_info.c of
/// libfabric 2.6.
namespace lath::cxi_stand_in {

inline constexpr std::size_t most_injected = 192;
inline constexpr std::size_t longest_message = (std::size_t{1} << 32) - 1;
inline constexpr std::size_t deepest_transmit = 16384;
inline constexpr std::size_t deepest_receive = 15360;
inline constexpr std::size_t default_completions = 131072;

inline constexpr unsigned tag_bits = 48;
inline constexpr std::uint64_t tag_mask = (std::uint64_t{1} << tag_bits) - 1;

/// Keys that the application chooses; the first hundred are of optimised regions.
inline constexpr std::size_t client_key_bytes = 4;
inline constexpr std::uint64_t client_key_mask = 0xffffffff;
inline constexpr std::uint64_t optimised_keys = 100;
/// Set in keys that the provider chooses.
inline constexpr std::uint64_t provider_key_bit = std::uint64_t{1} << 63;

inline constexpr std::uint64_t completion_levels =
    FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;
inline constexpr std::uint64_t send_flags =
    FI_INJECT | FI_COMPLETION | completion_levels | FI_REMOTE_CQ_DATA | FI_MORE | FI_FENCE;
inline constexpr std::uint64_t receive_flags =
    FI_COMPLETION | FI_MULTI_RECV | FI_MORE | FI_REMOTE_CQ_DATA | FI_INJECT;
inline constexpr std::uint64_t write_flags =
    FI_INJECT | FI_COMPLETION | FI_MORE | FI_FENCE | completion_levels;
inline constexpr std::uint64_t read_flags = FI_COMPLETION | FI_MORE | FI_FENCE | completion_levels;

}  // namespace lath::cxi_stand_in
