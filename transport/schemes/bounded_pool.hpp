#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "transport/schemes/quota.hpp"

namespace lath::transport {

/// Objects that are made on first use, up to a bound, and used again. One thread at a time.
template <class T>
class BoundedPool {
 public:
  /// `make` may throw Error.
  BoundedPool(std::size_t most, std::function<std::unique_ptr<T>()> make)
      : quota_(most), make_(std::move(make)) {}

  /// again: the bound is reached, or no more can be made while others are out, which will come back. error:
  /// none can be made at all.
  Result take(Direction direction, T*& object) noexcept {
    if (!quota_.take(direction)) return Result::again();
    if (free_.empty()) {
      Result grown = grow();
      if (!grown.is_done()) {
        quota_.give(direction);
        return quota_.out() > 0 ? Result::again() : std::move(grown);
      }
    }
    object = free_.back();
    free_.pop_back();
    return Result::done();
  }
  void give(T* object, Direction direction) noexcept {
    quota_.give(direction);
    free_.push_back(object);  // never allocates: grow() reserved the place
  }
  [[nodiscard]] std::size_t made() const noexcept { return owned_.size(); }
  [[nodiscard]] std::size_t most() const noexcept { return quota_.most(); }
  [[nodiscard]] std::size_t out() const noexcept { return quota_.out(); }

 private:
  Result grow() noexcept {
    try {
      owned_.reserve(owned_.size() + 1);
      free_.reserve(owned_.capacity());
      owned_.push_back(make_());
      free_.push_back(owned_.back().get());
      return Result::done();
    } catch (const Error& error) {
      return Result::failure(error);
    } catch (const std::exception& problem) {
      return Result::failure(Code::no_memory, problem.what());
    }
  }

  Quota quota_;
  std::function<std::unique_ptr<T>()> make_;
  std::vector<std::unique_ptr<T>> owned_;
  std::vector<T*> free_;
};

}  // namespace lath::transport
