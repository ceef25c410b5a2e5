#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datatypes/layout.hpp"

namespace lath::benchmarks {

enum class Memory : std::uint8_t { host, device };

/// Memory for one message of a layout, in host or GPU memory, with known bytes in its data, its gaps and
/// before and after it. Throws where the memory cannot be had, or for a layout that spans more than
/// `longest_span`.
class MessageBuffer {
 public:
  static constexpr std::int64_t longest_span = std::int64_t{4} << 30;

  MessageBuffer(Layout layout, Memory memory);

  /// What a message's buffer argument is: the layout's offset 0.
  [[nodiscard]] void* address() const noexcept;
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

  /// Gives the data the bytes of `seed`, the rest the gap bytes.
  void fill(std::uint64_t seed);
  /// Gives everything the gap bytes.
  void clear();
  /// Compares every byte with what fill(seed) writes. Nothing where all are equal; else the first difference
  /// in words.
  [[nodiscard]] std::optional<std::string> check(std::uint64_t seed);
  /// How many bytes a check compares.
  [[nodiscard]] std::size_t bytes() const noexcept { return image_.size(); }

 private:
  struct Free {
    void operator()(void* address) const noexcept;
  };

  void write_data(std::vector<std::byte>& image, std::uint64_t seed) const;
  void upload(const std::vector<std::byte>& image);
  [[nodiscard]] std::string difference(const std::vector<std::byte>& expected) const;

  Layout layout_;
  std::vector<std::byte> image_;        // what the memory held or shall hold; the memory itself on the host
  std::unique_ptr<void, Free> device_;  // the memory, where it is the GPU's
};

/// Whether two segments of the layout share a byte: such a type may be sent but not received into.
[[nodiscard]] bool overlaps(const Layout& layout);

}  // namespace lath::benchmarks
