#pragma once

#include "tests/cxi_stand_in/objects.hpp"

namespace lath::cxi_stand_in {

/// Hands what the doorbell was rung for, and receives, to the carrier as far as it takes them.
void issue(Endpoint& endpoint);

/// Hands over one operation, or answers -FI_EAGAIN where the carrier does not take it at once.
int issue_now(Request* request);

/// The end of a request: an entry in its queue where one is asked for or where it failed, and it is free
/// again. `entry` holds what the carrier tells.
void succeed(Request* request, const fi_cq_tagged_entry& entry);
void fail(Request* request, fi_cq_err_entry entry);

}  // namespace lath::cxi_stand_in
