#include "providers/verbs/completion_queues.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "providers/verbs/failure.hpp"

namespace lath::providers::verbs {
namespace {

// Some thirty connections, a megabyte.
constexpr int wanted_length = 16384;

}  // namespace

ibv_cq* CompletionQueues::take(std::size_t entries) {
  for (Shared& shared : queues_)
    if (shared.free >= entries) {
      shared.free -= entries;
      return shared.handle.get();
    }
  Shared made;
  const int length = std::min(wanted_length, device_.granted.max_cqe);
  made.handle.reset(check_object(library()->create_cq(device_.context.get(), length, nullptr, nullptr, 0),
                                 "ibv_create_cq"));
  const auto granted = static_cast<std::size_t>(made.handle.get()->cqe);
  if (granted < reserved_ + entries)
    throw Error(Code::not_supported, "completion queues of the device are too short for one connection",
                device_.name);
  made.free = granted - reserved_ - entries;
  queues_.push_back(std::move(made));
  return queues_.back().handle.get();
}

void CompletionQueues::give_back(const ibv_cq* queue, std::size_t entries) noexcept {
  for (Shared& shared : queues_)
    if (shared.handle.get() == queue) shared.free += entries;
}

}  // namespace lath::providers::verbs
