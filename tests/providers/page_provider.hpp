#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>

#include "providers/provider.hpp"
#include "providers/unmapped_ranges.hpp"

namespace lath::providers {

/// Registers pages of an address space that is not there, and knows of each registration what it is of. Moves
/// nothing.
class PageProvider final : public Provider {
 public:
  static constexpr std::uintptr_t page_bytes = 4096, pages = 64, base = std::uintptr_t{1} << 40;
  struct Page {
    std::uint64_t content = 0;  ///< 0: not mapped; never the same twice
    bool writable = true;
  };
  struct Registered final : Registration {
    Registered(PageProvider& of, AddressRange registered, bool may_write)
        : provider(of), range(registered), writable(may_write), seen(of.space) {
      provider.alive.insert(this);
    }
    ~Registered() override { provider.alive.erase(this); }
    [[nodiscard]] std::uint64_t key() const noexcept override { return 1; }
    [[nodiscard]] std::uint64_t remote_address() const noexcept override { return 0; }

    PageProvider& provider;
    AddressRange range;
    bool writable;
    std::array<Page, pages> seen;  ///< the address space when it was made
  };

  std::array<Page, pages> space{};
  std::set<const Registered*> alive;
  std::uint64_t made = 0;
  std::size_t most_alive = SIZE_MAX;

  static std::uintptr_t first_page(AddressRange range) { return (range.begin - base) / page_bytes; }
  static std::uintptr_t last_page(AddressRange range) { return (range.end - 1 - base) / page_bytes; }
  static void* address(std::uintptr_t offset) { return reinterpret_cast<void*>(base + offset); }

  std::unique_ptr<Registration> register_memory(void* address, std::size_t length, MemoryKind, bool writable,
                                                bool, std::unique_ptr<Error>& why) noexcept override {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const AddressRange range{begin, begin + length};
    bool possible = begin >= base && last_page(range) < pages;
    for (std::uintptr_t page = first_page(range); possible && page <= last_page(range); ++page)
      possible = space[page].content != 0 && (space[page].writable || !writable);
    if (!possible) why = std::make_unique<Error>(Code::bad_address, "not mapped so");
    if (possible && alive.size() >= most_alive) why = std::make_unique<Error>(Code::no_memory, "too many");
    if (!possible || alive.size() >= most_alive) return nullptr;
    ++made;
    return std::make_unique<Registered>(*this, range, writable);
  }

  [[nodiscard]] std::string name() const override { return "pages"; }
  [[nodiscard]] const Limits& limits() const noexcept override { return limits_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return {}; }
  PeerId connect(std::span<const std::byte>) override { return 0; }
  void disconnect(PeerId) noexcept override {}
  Result send(PeerId, std::span<const Segment>, Context, unsigned) noexcept override {
    return Result::again();
  }
  Result send_tagged(PeerId, std::span<const Segment>, std::uint64_t, Context, unsigned) noexcept override {
    return Result::again();
  }
  Result receive_tagged(PeerId, std::span<const Segment>, std::uint64_t, Context) noexcept override {
    return Result::again();
  }
  void cancel(Context) noexcept override {}
  Result write(PeerId, std::span<const Segment>, std::span<const RemoteSegment>, Context,
               unsigned) noexcept override {
    return Result::again();
  }
  Result read(PeerId, std::span<const Segment>, std::span<const RemoteSegment>, Context,
              unsigned) noexcept override {
    return Result::again();
  }
  Result poll(Events&) noexcept override { return Result::again(); }
  [[nodiscard]] const Counters& counters() const noexcept override { return counters_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept override { return 0; }

 private:
  Limits limits_;
  Counters counters_;
};

}  // namespace lath::providers
