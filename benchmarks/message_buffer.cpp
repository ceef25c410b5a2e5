#include "benchmarks/message_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "benchmarks/lath_call.hpp"
#include "datatypes/cursor.hpp"
#include "lath/lath.h"

namespace lath::benchmarks {
namespace {

constexpr std::int64_t margin = 64;
constexpr std::byte gap{0xa5};

std::size_t span_of(const Layout& layout) {
  const std::int64_t low = layout.lowest();
  const std::int64_t high = layout.highest();
  if (low < -MessageBuffer::longest_span || high > MessageBuffer::longest_span ||
      high - low > MessageBuffer::longest_span)
    throw Error(Code::invalid_argument,
                fmt::format("the type reaches from byte {} to {}; a benchmark's buffer "
                            "spans at most {} bytes",
                            low, high, MessageBuffer::longest_span));
  return static_cast<std::size_t>(high - low + 2 * margin);
}

/// Byte number `at` of a seed's packed data.
std::byte data_byte(std::uint64_t seed, std::int64_t at) {
  std::uint64_t word = seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(at >> 3);
  word = (word ^ (word >> 29)) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::byte>(word >> (8 + 7 * (at & 7)));
}

}  // namespace

void MessageBuffer::Free::operator()(void* address) const noexcept {
  static_cast<void>(lath_gpu_free(address));
}

MessageBuffer::MessageBuffer(Layout layout, Memory memory)
    : layout_(std::move(layout)), image_(span_of(layout_), gap) {
  if (memory == Memory::host) return;
  void* address = nullptr;
  lath_call(lath_gpu_alloc(image_.size(), &address), "allocating GPU memory");
  device_.reset(address);
}

void* MessageBuffer::address() const noexcept {
  const auto* base = device_ ? static_cast<const std::byte*>(device_.get()) : image_.data();
  // Offset 0 may lie outside the span, so this is an address to compute with, not one to dereference.
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(base) +
                                 static_cast<std::uintptr_t>(margin - layout_.lowest()));
}

void MessageBuffer::write_data(std::vector<std::byte>& image, std::uint64_t seed) const {
  std::int64_t packed = 0;
  for (Cursor cursor(layout_); !cursor.at_end();) {
    const LayoutSegment segment = cursor.next();
    std::byte* to = image.data() + (segment.offset - layout_.lowest() + margin);
    for (std::int64_t i = 0; i < segment.length; ++i) to[i] = data_byte(seed, packed++);
  }
}

void MessageBuffer::upload(const std::vector<std::byte>& image) {
  if (device_) lath_call(lath_gpu_copy(device_.get(), image.data(), image.size()), "copying to GPU memory");
}

void MessageBuffer::fill(std::uint64_t seed) {
  std::fill(image_.begin(), image_.end(), gap);
  write_data(image_, seed);
  upload(image_);
}

void MessageBuffer::clear() {
  std::fill(image_.begin(), image_.end(), gap);
  upload(image_);
}

std::optional<std::string> MessageBuffer::check(std::uint64_t seed) {
  if (device_)
    lath_call(lath_gpu_copy(image_.data(), device_.get(), image_.size()), "copying from GPU memory");
  std::vector<std::byte> expected(image_.size(), gap);
  write_data(expected, seed);
  if (std::memcmp(expected.data(), image_.data(), image_.size()) == 0) return std::nullopt;
  return difference(expected);
}

std::string MessageBuffer::difference(const std::vector<std::byte>& expected) const {
  const auto [want, have] = std::mismatch(expected.begin(), expected.end(), image_.begin());
  const std::int64_t offset = (want - expected.begin()) + layout_.lowest() - margin;
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < image_.size(); ++i) wrong += expected[i] == image_[i] ? 0 : 1;
  return fmt::format("{} of {} bytes are wrong, the first at offset {} of the buffer: {:#04x} for {:#04x}",
                     wrong, image_.size(), offset, std::to_integer<int>(*have), std::to_integer<int>(*want));
}

bool overlaps(const Layout& layout) {
  std::vector<std::byte> seen(span_of(layout), std::byte{0});
  for (Cursor cursor(layout); !cursor.at_end();) {
    const LayoutSegment segment = cursor.next();
    std::byte* at = seen.data() + (segment.offset - layout.lowest() + margin);
    if (std::memchr(at, 1, static_cast<std::size_t>(segment.length)) != nullptr) return true;
    std::memset(at, 1, static_cast<std::size_t>(segment.length));
  }
  return false;
}

}  // namespace lath::benchmarks
