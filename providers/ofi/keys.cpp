#include "providers/ofi/keys.hpp"

namespace lath::providers::ofi {

Keys::Keys(std::size_t bytes) noexcept
    : mask_(bytes == 0 || bytes >= sizeof(std::uint64_t) ? ~0ULL : (1ULL << (8 * bytes)) - 1) {
  for (std::size_t key = 0; key < optimised; ++key) free_[key] = static_cast<std::uint8_t>(key);
}

std::uint64_t Keys::take_for_peers() noexcept {
  if (count_ == 0) return take();
  const std::uint64_t key = free_[first_];
  first_ = (first_ + 1) % optimised;
  --count_;
  return key;
}

std::uint64_t Keys::take() noexcept {
  const std::uint64_t key = next_;
  next_ = key >= mask_ ? optimised : key + 1;
  return key;
}

void Keys::give_back(std::uint64_t key) noexcept {
  if (key >= optimised) return;
  free_[(first_ + count_) % optimised] = static_cast<std::uint8_t>(key);
  ++count_;
}

}  // namespace lath::providers::ofi
