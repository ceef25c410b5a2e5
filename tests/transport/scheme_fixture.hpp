#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/config.hpp"
#include "gpu/device.hpp"
#include "gpu/emulator/control.hpp"
#include "gpu/stream.hpp"
#include "providers/provider.hpp"
#include "tests/transport/random_shape.hpp"
#include "transport/scheme.hpp"

namespace lath::transport {

/// Grants limits and registrations, refuses those that a test names, and moves nothing.
class RegistrationProvider final : public providers::Provider {
 public:
  struct Range {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    providers::MemoryKind kind = providers::MemoryKind::host;
    bool writable = false;
  };

  providers::Limits granted;
  std::set<std::uint64_t> refused;  ///< numbers of register_memory() calls, from 1
  bool refuse_all = false;
  std::uint64_t asked = 0;
  std::size_t alive = 0;
  std::vector<Range> made;

  RegistrationProvider() {
    granted.send_list = granted.receive_list = 4;
    granted.max_message = std::size_t{1} << 30;
    granted.device_memory = true;
  }
  [[nodiscard]] std::string name() const override { return "registrations"; }
  [[nodiscard]] const providers::Limits& limits() const noexcept override { return granted; }
  [[nodiscard]] std::vector<std::byte> address() const override { return {}; }
  providers::PeerId connect(std::span<const std::byte>) override { return 0; }
  void disconnect(providers::PeerId) noexcept override {}
  std::unique_ptr<providers::Registration> register_memory(void* address, std::size_t length,
                                                           providers::MemoryKind kind, bool writable, bool,
                                                           std::unique_ptr<Error>& why) noexcept override {
    ++asked;
    if (refuse_all || refused.contains(asked)) {
      why = std::make_unique<Error>(Code::no_memory, "refused as the test wants it");
      return nullptr;
    }
    made.push_back({static_cast<std::byte*>(address), length, kind, writable});
    return std::make_unique<Held>(*this, made.back());
  }
  Result send(providers::PeerId, std::span<const providers::Segment>, providers::Context,
              unsigned) noexcept override {
    return Result::again();
  }
  Result send_tagged(providers::PeerId, std::span<const providers::Segment>, std::uint64_t,
                     providers::Context, unsigned) noexcept override {
    return Result::again();
  }
  Result receive_tagged(providers::PeerId, std::span<const providers::Segment>, std::uint64_t,
                        providers::Context) noexcept override {
    return Result::again();
  }
  void cancel(providers::Context) noexcept override {}
  Result write(providers::PeerId, std::span<const providers::Segment>,
               std::span<const providers::RemoteSegment>, providers::Context, unsigned) noexcept override {
    return Result::again();
  }
  Result read(providers::PeerId, std::span<const providers::Segment>,
              std::span<const providers::RemoteSegment>, providers::Context, unsigned) noexcept override {
    return Result::again();
  }
  Result poll(providers::Events&) noexcept override { return Result::again(); }
  [[nodiscard]] const Counters& counters() const noexcept override { return counters_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept override { return 0; }

  /// Whether the segment is one that a provider with these limits could be given.
  void expect_usable(const providers::Segment& segment, bool on_device) const {
    ASSERT_GT(segment.length, 0U);
    if (!on_device && !granted.local_registration) return;
    const auto* held = dynamic_cast<const Held*>(segment.registration);
    ASSERT_NE(held, nullptr) << "a segment without a registration";
    auto* begin = static_cast<std::byte*>(segment.address);
    EXPECT_GE(begin, held->range.begin);
    EXPECT_LE(begin + segment.length, held->range.begin + held->range.bytes);
    EXPECT_EQ(held->range.kind == providers::MemoryKind::device, on_device);
  }

 private:
  struct Held final : providers::Registration {
    Held(RegistrationProvider& of, Range r) : provider(of), range(r) { ++provider.alive; }
    ~Held() override { --provider.alive; }
    [[nodiscard]] std::uint64_t key() const noexcept override { return 1; }
    [[nodiscard]] std::uint64_t remote_address() const noexcept override { return 0; }
    RegistrationProvider& provider;
    Range range;
  };

  Counters counters_;
};

enum class Kind { host, pinned, managed, device, pool };
inline std::string text(Kind kind) {
  static constexpr const char* names[] = {"host", "pinned", "managed", "device", "pool"};
  return names[static_cast<int>(kind)];
}
inline bool on_device(Kind kind) {
  return kind == Kind::device || kind == Kind::pool;
}

/// Memory of any kind that tests fill and read.
class TestMemory {
 public:
  TestMemory(Kind kind, std::size_t bytes, int device = 0) : kind_(kind), bytes_(bytes) {
    if (kind == Kind::host) {
      plain_.resize(bytes);
      data_ = plain_.data();
      return;
    }
    stream_.emplace(device);
    const gpu::ContextGuard guard(device);
    gpu::CUdeviceptr pointer = 0;
    void* pinned = nullptr;
    gpu::CUresult code = gpu::CUDA_SUCCESS;
    if (kind == Kind::pinned) code = gpu::driver()->cuMemHostAlloc(&pinned, bytes, 0);
    if (kind == Kind::managed) code = gpu::driver()->cuMemAllocManaged(&pointer, bytes, 1);
    if (kind == Kind::device) code = gpu::driver()->cuMemAlloc_v2(&pointer, bytes);
    if (kind == Kind::pool) code = gpu::driver()->cuMemAllocAsync(&pointer, bytes, stream_->get());
    if (code != gpu::CUDA_SUCCESS)
      throw gpu::driver_error(static_cast<int>(code), "allocating test memory of kind " + text(kind));
    data_ = pinned != nullptr ? static_cast<std::byte*>(pinned) : reinterpret_cast<std::byte*>(pointer);
    wait();
  }
  ~TestMemory() {
    if (kind_ == Kind::host || data_ == nullptr) return;
    const gpu::ContextGuard guard(stream_->device());
    const auto pointer = reinterpret_cast<gpu::CUdeviceptr>(data_);
    if (kind_ == Kind::pinned)
      gpu::driver()->cuMemFreeHost(data_);
    else if (kind_ == Kind::pool)
      gpu::driver()->cuMemFreeAsync(pointer, stream_->get());
    else
      gpu::driver()->cuMemFree_v2(pointer);
    wait();
  }
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  void fill(const std::vector<std::byte>& bytes) const { copy(data_, bytes.data(), bytes.size()); }
  [[nodiscard]] std::vector<std::byte> contents() const {
    std::vector<std::byte> out(bytes_);
    copy(out.data(), data_, bytes_);
    return out;
  }

 private:
  void copy(void* to, const void* from, std::size_t bytes) const {
    if (!on_device(kind_))
      std::memcpy(to, from, bytes);
    else
      ASSERT_TRUE(gpu::copy_and_wait(to, from, bytes).is_done());
  }
  void wait() { ASSERT_TRUE(stream_->synchronize().is_done()); }

  Kind kind_;
  std::size_t bytes_;
  std::vector<std::byte> plain_;
  std::optional<gpu::Stream> stream_;
  std::byte* data_ = nullptr;
};

/// A shape's buffer in some memory, with margins, and what is in it.
struct TestBuffer {
  TestBuffer(const Shape& shape, Kind kind, RandomShapes& random)
      : layout(Layout::of(shape.type, 1)),
        origin(margin - layout.lowest()),
        contents(static_cast<std::size_t>(layout.highest() - layout.lowest() + 2 * margin)),
        memory(kind, contents.size()) {
    for (std::byte& byte : contents) byte = static_cast<std::byte>(random.number(0, 255));
    memory.fill(contents);
  }
  [[nodiscard]] Buffer buffer() const { return {memory.data() + origin, layout}; }
  [[nodiscard]] std::size_t index(std::int64_t offset) const {
    return static_cast<std::size_t>(offset + origin);
  }

  static constexpr std::int64_t margin = 24;
  Layout layout;
  std::int64_t origin;
  std::vector<std::byte> contents;
  TestMemory memory;
};

/// Does what a provider does with a list, on either side.
class ListCopier {
 public:
  explicit ListCopier(const RegistrationProvider& provider) : provider_(provider) {
    if (gpu::availability().available) stream_.emplace(0);
  }
  [[nodiscard]] std::vector<std::byte> read(std::span<const providers::Segment> list) {
    std::vector<std::byte> out;
    for (const auto& segment : list) out.resize(out.size() + segment.length);
    move(list, out.data(), out.size(), false);
    return out;
  }
  void write(std::span<const providers::Segment> list, std::vector<std::byte> bytes) {
    move(list, bytes.data(), bytes.size(), true);
  }

 private:
  void move(std::span<const providers::Segment> list, std::byte* at, std::size_t left, bool writes) {
    EXPECT_LE(list.size(), provider_.granted.send_list);
    bool copies = false;
    for (const auto& segment : list) {
      const bool device = gpu::memory_info(segment.address).kind == gpu::MemoryKind::device;
      provider_.expect_usable(segment, device);
      const std::size_t bytes = std::min(segment.length, left);
      void* to = writes ? segment.address : at;
      const void* from = writes ? at : segment.address;
      if (!device)
        std::memcpy(to, from, bytes);
      else
        ASSERT_TRUE(stream_->copy(to, from, bytes).is_done());
      copies |= device;
      at += bytes;
      left -= bytes;
    }
    if (!copies) return;
    ASSERT_TRUE(stream_->synchronize().is_done());
  }

  const RegistrationProvider& provider_;
  std::optional<gpu::Stream> stream_;
};

/// Sets variables for the life of one test.
class Environment {
 public:
  void set(const char* variable, const std::string& value) {
    names_.emplace_back(variable);
    ::setenv(variable, value.c_str(), 1);
    config::reload();
  }
  ~Environment() {
    for (const auto& name : names_) ::unsetenv(name.c_str());
    config::reload();
  }

 private:
  std::vector<std::string> names_;
};

/// Random delays in every stream operation of the emulator, for a scope; on a real GPU nothing.
class EmulatorDelay {
 public:
  EmulatorDelay(std::uint64_t microseconds, std::uint64_t seed) { set(microseconds, seed); }
  ~EmulatorDelay() { set(0, 0); }

 private:
  static void set(std::uint64_t microseconds, std::uint64_t seed) {
    using Function = decltype(&lath_emulator_set_delay);
    if (auto* function = reinterpret_cast<Function>(gpu::driver_symbol("lath_emulator_set_delay")))
      function(microseconds, seed);
  }
};

}  // namespace lath::transport
