#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lath::providers::ofi {

/// Keys for regions on devices where the application chooses them. cxi writes faster into regions with a key
/// of 0 to 99 ("optimised"), so what peers reach gets those as long as there are any; to other devices a key
/// is a number.
class Keys {
 public:
  static constexpr std::size_t optimised = 100;

  /// `bytes`: a key's length on the device; 0 where it does not say.
  explicit Keys(std::size_t bytes) noexcept;

  /// An optimised key where one is free, else an ordinary one. Of those free, the one given back longest ago:
  /// what a peer still sends to an old region then finds no other for as long as can be.
  [[nodiscard]] std::uint64_t take_for_peers() noexcept;
  /// Used before only where the device's keys have run out once: then the device may refuse it.
  [[nodiscard]] std::uint64_t take() noexcept;
  void give_back(std::uint64_t key) noexcept;

 private:
  std::array<std::uint8_t, optimised> free_{};  ///< a ring
  std::size_t first_ = 0, count_ = optimised;
  std::uint64_t next_ = optimised, mask_;
};

}  // namespace lath::providers::ofi
