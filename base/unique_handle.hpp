#pragma once

#include <utility>

namespace lath {

/// Owner of one C handle. Traits gives `using type`, `static constexpr type null()` and
/// `static void destroy(type) noexcept`. Move-only; a moved-from owner holds null.
template <class Traits>
class unique_handle {
 public:
  using type = typename Traits::type;

  unique_handle() noexcept = default;
  explicit unique_handle(type handle) noexcept : handle_(handle) {}
  unique_handle(unique_handle&& other) noexcept : handle_(other.release()) {}
  unique_handle& operator=(unique_handle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  unique_handle(const unique_handle&) = delete;
  unique_handle& operator=(const unique_handle&) = delete;
  ~unique_handle() { reset(); }

  [[nodiscard]] type get() const noexcept { return handle_; }
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != Traits::null(); }
  /// Gives the handle up without destroying it.
  [[nodiscard]] type release() noexcept { return std::exchange(handle_, Traits::null()); }
  void reset(type handle = Traits::null()) noexcept {
    type old = std::exchange(handle_, handle);
    if (old != Traits::null()) Traits::destroy(old);
  }
  /// For C calls that return the handle through a pointer: drops the old one and gives the place for the new
  /// one.
  [[nodiscard]] type* receive() noexcept {
    reset();
    return &handle_;
  }

 private:
  type handle_ = Traits::null();
};

}  // namespace lath
