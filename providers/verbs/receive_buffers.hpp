#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "providers/verbs/memory.hpp"
#include "providers/verbs/page_memory.hpp"

namespace lath::providers::verbs {

/// The buffers that control messages of all peers arrive in, on one shared receive queue.
class ReceiveBuffers {
 public:
  /// Posts them all. Throws Error.
  ReceiveBuffers(const Device& device, std::size_t count, std::size_t bytes, std::uint64_t id);

  [[nodiscard]] ibv_srq* queue() const noexcept { return queue_.get(); }
  [[nodiscard]] const std::byte* buffer(std::size_t number) const noexcept {
    return memory_.data() + number * bytes_;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Gives a buffer to the device again; at the latest with a later call where the device refuses now.
  void post(std::size_t number) noexcept;
  void post_late() noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_.size(); }

 private:
  std::size_t count_, bytes_;
  std::uint64_t id_;
  PageMemory memory_;
  std::unique_ptr<RegisteredMemory> registration_;
  SharedReceiveQueueHandle queue_;
  std::vector<std::size_t> late_;
};

}  // namespace lath::providers::verbs
