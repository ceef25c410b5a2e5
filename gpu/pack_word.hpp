#pragma once

#include <cstdint>

/// The unit in which kernels copy, and how a packed range splits into whole units and odd bytes.
namespace lath::gpu {

/// A range of packed bytes as a kernel walks it: `head` single bytes, `words` whole words, `tail` single
/// bytes.
struct WordSplit {
  std::uint64_t word = 1;
  std::uint64_t head = 0;
  std::uint64_t words = 0;
  std::uint64_t tail = 0;
  [[nodiscard]] std::uint64_t items() const { return head + words + tail; }
};

/// The largest word (16, 8, 4, 2 or 1 bytes) with which packed bytes [begin, end) can be copied so that every
/// word lies inside one block and is aligned on both sides. `geometry` is the bitwise or of everything that
/// must be a multiple of the word: base address plus offset, block length, and all strides (negative ones as
/// two's complement), or all offsets and lengths of a table. `packed` is the address that packed byte `begin`
/// gets.
inline WordSplit split_words(std::uint64_t geometry, std::uintptr_t packed, std::uint64_t begin,
                             std::uint64_t end) {
  for (std::uint64_t word = 16; word > 1; word /= 2) {
    const std::uint64_t head = (word - begin % word) % word;
    if (geometry % word != 0 || (packed + head) % word != 0 || begin + head + word > end) continue;
    const std::uint64_t words = (end - begin - head) / word;
    return {word, head, words, end - begin - head - words * word};
  }
  return {1, 0, end - begin, 0};
}

}  // namespace lath::gpu
