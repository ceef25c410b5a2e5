#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "transport/schemes/quota.hpp"

namespace lath::transport {

/// Objects that are made on first use, up to a bound, and used again. One thread at a time.
template <class T>
class BoundedPool {
 public:
  /// `make` may throw: then the pool is exhausted for now.
  BoundedPool(std::size_t most, std::function<std::unique_ptr<T>()> make)
      : quota_(most), make_(std::move(make)) {}

  /// Null where the bound is reached or nothing more can be made.
  [[nodiscard]] T* take(Direction direction) noexcept {
    if (!quota_.take(direction)) return nullptr;
    if (free_.empty() && !grow()) {
      quota_.give(direction);
      return nullptr;
    }
    T* object = free_.back();
    free_.pop_back();
    return object;
  }
  void give(T* object, Direction direction) noexcept {
    quota_.give(direction);
    free_.push_back(object);  // never allocates: grow() reserved the place
  }
  [[nodiscard]] std::size_t made() const noexcept { return owned_.size(); }
  [[nodiscard]] std::size_t most() const noexcept { return quota_.most(); }
  [[nodiscard]] std::size_t out() const noexcept { return quota_.out(); }

 private:
  bool grow() noexcept {
    try {
      owned_.reserve(owned_.size() + 1);
      free_.reserve(owned_.capacity());
      owned_.push_back(make_());
      free_.push_back(owned_.back().get());
      return true;
    } catch (...) {
      return false;
    }
  }

  Quota quota_;
  std::function<std::unique_ptr<T>()> make_;
  std::vector<std::unique_ptr<T>> owned_;
  std::vector<T*> free_;
};

}  // namespace lath::transport
