#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "datatypes/layout.hpp"
#include "gpu/stream.hpp"

namespace lath::gpu {

/// Segments of the packed range [begin, end) of a layout, or as many of the first ones as a list holds.
struct ListKey {
  LayoutHash layout;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const ListKey&, const ListKey&) = default;
};

/// A list of segments in device memory, as the table kernels read it. Offsets count from the layout's lowest
/// byte.
class UploadedList {
 public:
  UploadedList(int device, std::size_t capacity);

  [[nodiscard]] const ListKey& key() const { return key_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t segments() const { return segments_; }
  /// One past the last packed byte listed, in the layout's packed offsets.
  [[nodiscard]] std::int64_t covered() const { return covered_; }
  [[nodiscard]] std::int64_t first_offset() const { return host_offsets()[0]; }
  /// What a word must divide besides the first segment's address: distances between segments, and lengths.
  [[nodiscard]] std::uint64_t geometry() const { return geometry_; }
  [[nodiscard]] const std::int64_t* device_prefix() const {
    return static_cast<std::int64_t*>(device_.data());
  }
  [[nodiscard]] const std::int64_t* device_offsets() const { return device_prefix() + segments_ + 1; }

 private:
  friend class UploadedLists;
  void fill(const Layout& layout, const ListKey& key);
  [[nodiscard]] std::int64_t* host_prefix() const { return reinterpret_cast<std::int64_t*>(host_.data()); }
  [[nodiscard]] std::int64_t* host_offsets() const { return host_prefix() + segments_ + 1; }

  ListKey key_;
  std::size_t capacity_;
  std::uint64_t segments_ = 0;
  std::int64_t covered_ = 0;
  std::uint64_t geometry_ = 0;
  PinnedBuffer host_;
  DeviceBuffer device_;
  Event used_;  // recorded after the last use
  CUstream used_on_ = nullptr;
  std::uint64_t last_use_ = 0;
};

/// The lists of one Packer: a bounded number of two sizes, made when first needed. One thread at a time.
class UploadedLists {
 public:
  static constexpr std::size_t largest = std::size_t{1} << 16;  ///< segments of one list

  explicit UploadedLists(int device) : device_(device) {}

  /// The list of `key`, filled and on its way to the device in `stream` if it was not there, for work that is
  /// submitted to `stream` next; release() must follow. `most` bounds the segments that the key can have.
  /// again: all lists of that size are in use, unless `wait`.
  Result acquire(const Layout& layout, const ListKey& key, std::size_t most, bool wait, Stream& stream,
                 UploadedList*& out) noexcept;
  /// The work was submitted (or failed to be).
  Result release(UploadedList& list, Stream& stream) noexcept;

  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  static std::size_t memory_limit_bytes() noexcept;

 private:
  struct Size {
    std::size_t capacity;
    std::size_t most_lists;
  };
  static constexpr std::array<Size, 2> sizes{{{4096, 64}, {largest, 16}}};

  UploadedList* find(const ListKey& key) noexcept;
  Result vacant(const Size& size, bool wait, UploadedList*& out);

  int device_;
  std::vector<std::unique_ptr<UploadedList>> lists_;
  std::uint64_t uses_ = 0;
};

}  // namespace lath::gpu
