#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "providers/verbs/device.hpp"

namespace lath::providers::verbs {

/// Completion queues that connections share: one serves as many as its length allows, since one that
/// overflows is lost.
class CompletionQueues {
 public:
  /// `reserved` entries of each stay free for what does not belong to one connection.
  CompletionQueues(const Device& device, std::size_t reserved) : device_(device), reserved_(reserved) {}

  /// One with room for `entries` more, made where there is none. Throws Error.
  ibv_cq* take(std::size_t entries);
  void give_back(const ibv_cq* queue, std::size_t entries) noexcept;

  struct Shared {
    CompletionQueueHandle handle;
    std::size_t free = 0;
  };
  [[nodiscard]] std::span<const Shared> all() const noexcept { return queues_; }

 private:
  const Device& device_;
  std::size_t reserved_;
  std::vector<Shared> queues_;
};

}  // namespace lath::providers::verbs
