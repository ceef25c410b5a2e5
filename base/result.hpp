#pragma once

#include <memory>
#include <utility>

#include "base/error.hpp"

namespace lath {

/// What a data-path step came to: carried out, to be tried again after progress (back-pressure, not a
/// failure), or failed.
enum class Status : unsigned char { done, again, error };

/// The three-way answer of every data-path call. An error carries its Error; done and again allocate nothing.
class [[nodiscard]] Result {
 public:
  static Result done() noexcept { return Result(Status::done); }
  static Result again() noexcept { return Result(Status::again); }
  static Result failure(Error error) { return Result(std::make_unique<Error>(std::move(error))); }
  static Result failure(Code code, std::string what, std::string where = {}) {
    return failure(Error(code, std::move(what), std::move(where)));
  }

  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] bool is_done() const noexcept { return status_ == Status::done; }
  [[nodiscard]] bool is_again() const noexcept { return status_ == Status::again; }
  [[nodiscard]] bool is_error() const noexcept { return status_ == Status::error; }
  /// Only where is_error().
  [[nodiscard]] const Error& error() const noexcept { return *error_; }
  /// Takes the error out, for keeping with a request. Only where is_error().
  [[nodiscard]] std::unique_ptr<Error> take_error() noexcept { return std::move(error_); }

 private:
  explicit Result(Status status) noexcept : status_(status) {}
  explicit Result(std::unique_ptr<Error> error) noexcept : status_(Status::error), error_(std::move(error)) {}

  Status status_;
  std::unique_ptr<Error> error_;
};

}  // namespace lath
