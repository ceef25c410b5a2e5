#pragma once

#include "transport/scheme.hpp"
#include "transport/schemes/bounded_pool.hpp"
#include "transport/schemes/user_registration.hpp"

/// The schemes contiguous and gather: the provider reads or writes the user's own memory.
namespace lath::transport {

using SegmentArray = std::vector<providers::Segment>;
using SegmentArrays = BoundedPool<SegmentArray>;

/// What a Source and a Sink share: turning packed ranges into lists.
class DirectSide {
 public:
  DirectSide(Buffer buffer, UserRegistration registration, Direction direction, SegmentArrays& arrays)
      : buffer_(std::move(buffer)),
        registration_(std::move(registration)),
        direction_(direction),
        arrays_(arrays) {}

  /// Fills slot.list. again: no array is free. error: the range has more segments than a list holds.
  Result list(PackedRange range, Slot& slot) noexcept;
  void release(Slot& slot) noexcept;

 private:
  Buffer buffer_;
  UserRegistration registration_;
  Direction direction_;
  SegmentArrays& arrays_;
};

class DirectSource final : public Source {
 public:
  DirectSource(Scheme scheme, DirectSide side) : scheme_(scheme), side_(std::move(side)) {}
  [[nodiscard]] Scheme scheme() const noexcept override { return scheme_; }
  Result begin(PackedRange range, Slot& slot) noexcept override { return side_.list(range, slot); }
  Result ready(Slot&) noexcept override { return Result::done(); }
  void release(Slot& slot) noexcept override { side_.release(slot); }

 private:
  Scheme scheme_;
  DirectSide side_;
};

class DirectSink final : public Sink {
 public:
  DirectSink(Scheme scheme, DirectSide side) : scheme_(scheme), side_(std::move(side)) {}
  [[nodiscard]] Scheme scheme() const noexcept override { return scheme_; }
  Result begin(PackedRange range, Slot& slot) noexcept override { return side_.list(range, slot); }
  Result arrived(Slot&, std::int64_t) noexcept override { return Result::done(); }
  Result finished(Slot&) noexcept override { return Result::done(); }
  void release(Slot& slot) noexcept override { side_.release(slot); }

 private:
  Scheme scheme_;
  DirectSide side_;
};

}  // namespace lath::transport
