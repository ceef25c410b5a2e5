#pragma once

#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

namespace lath::cxi_stand_in {

/// The data path's calls. Static.
[[nodiscard]] fi_ops_msg* message_calls();
[[nodiscard]] fi_ops_tagged* tagged_calls();
[[nodiscard]] fi_ops_rma* rma_calls();

/// fi_cancel() of a receive.
ssize_t cancel(fid* endpoint, void* context);

}  // namespace lath::cxi_stand_in
