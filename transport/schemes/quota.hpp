#pragma once

#include <array>
#include <cstddef>

#include "transport/plan.hpp"

namespace lath::transport {

/// Bounds how much of a pool is out, and keeps a quarter of it for each direction. Without that, receives
/// that wait for a peer's data could hold everything, the peer's likewise, and neither could send.
class Quota {
 public:
  explicit Quota(std::size_t most) noexcept : most_(most), most_each_(most - most / 4) {}

  [[nodiscard]] bool take(Direction direction) noexcept {
    std::size_t& mine = out_[index(direction)];
    if (out_[0] + out_[1] == most_ || mine == most_each_) return false;
    ++mine;
    return true;
  }
  void give(Direction direction) noexcept { --out_[index(direction)]; }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  [[nodiscard]] std::size_t out() const noexcept { return out_[0] + out_[1]; }

 private:
  static std::size_t index(Direction direction) noexcept { return static_cast<std::size_t>(direction); }

  std::size_t most_;
  std::size_t most_each_;
  std::array<std::size_t, 2> out_{};
};

}  // namespace lath::transport
