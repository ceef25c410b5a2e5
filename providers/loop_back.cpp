#include "providers/loop_back.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

namespace lath::providers {
namespace {

constexpr std::size_t test_bytes = 6000;
constexpr std::chrono::seconds patience{5};
constexpr std::uint64_t test_tag = 0x51;

std::vector<std::byte> pattern(unsigned seed) {
  std::vector<std::byte> bytes(test_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251 + seed);
  return bytes;
}

/// Drives the provider and keeps what it reports.
class Driver final : public Events {
 public:
  explicit Driver(Provider& provider) : provider_(provider), self_(provider.connect(provider.address())) {}
  ~Driver() override { provider_.disconnect(self_); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  [[nodiscard]] PeerId self() const { return self_; }
  [[nodiscard]] Provider& provider() const { return provider_; }
  [[nodiscard]] const std::vector<std::byte>& message() const { return message_; }
  void forget() {
    completed_ = 0;
    failed_.reset();
  }

  /// Repeats a post until it is taken.
  void post(const char* step, const std::function<Result()>& attempt) {
    wait(step, [&] {
      Result result = attempt();
      if (result.is_error()) throw *result.take_error();
      return result.is_done();
    });
  }
  void await_completions(const char* step, std::size_t count) {
    wait(step, [&] { return completed_ >= count; });
    if (failed_ != nullptr) throw *failed_;
  }
  void await_message(const char* step) {
    wait(step, [&] { return !message_.empty(); });
  }

  void on_message(std::span<const std::byte> bytes) override { message_.assign(bytes.begin(), bytes.end()); }
  void on_unreachable(PeerId, const Error& error) override { failed_ = std::make_unique<Error>(error); }
  void on_completion(Context, std::size_t, const Error* error) override {
    ++completed_;
    if (error != nullptr) failed_ = std::make_unique<Error>(*error);
  }

 private:
  void wait(const char* step, const std::function<bool()>& finished) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!finished()) {
      Result result = provider_.poll(*this);
      if (result.is_error()) throw *result.take_error();
      if (std::chrono::steady_clock::now() > deadline)
        throw Error(Code::provider, std::string("the loop-back check hangs in ") + step, provider_.name());
    }
  }

  Provider& provider_;
  PeerId self_;
  std::vector<std::byte> message_;
  std::size_t completed_ = 0;
  std::unique_ptr<Error> failed_;
};

void compare(const char* step, const Provider& provider, const std::vector<std::byte>& got,
             const std::vector<std::byte>& expected) {
  if (got != expected)
    throw Error(Code::provider, std::string("the loop-back check got wrong bytes by ") + step,
                provider.name());
}

std::unique_ptr<Registration> register_or_throw(Provider& provider, void* address, MemoryKind kind,
                                                bool remote) {
  std::unique_ptr<Error> why;
  auto registration = provider.register_memory(address, test_bytes, kind, true, remote, why);
  if (registration == nullptr) throw *why;
  return registration;
}

void check_send(Driver& driver, Segment segment, const std::vector<std::byte>& expected) {
  int context = 0;
  segment.length = std::min(segment.length, driver.provider().limits().max_control);
  driver.forget();
  driver.post("send", [&] { return driver.provider().send(driver.self(), {&segment, 1}, &context, 0); });
  driver.await_completions("send", 1);
  driver.await_message("send");
  compare("send", driver.provider(), driver.message(),
          {expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(segment.length)});
}

void check_tagged(Driver& driver, const Segment& from, const Segment& to) {
  std::array<int, 2> contexts{};
  Provider& provider = driver.provider();
  driver.forget();
  driver.post("tagged receive", [&] {
    return provider.receive_tagged(driver.self(), {&to, 1}, test_tag, &contexts[0]);
  });
  driver.post("tagged send", [&] {
    return provider.send_tagged(driver.self(), {&from, 1}, test_tag, &contexts[1], 0);
  });
  driver.await_completions("tagged send and receive", 2);
}

}  // namespace

void check_messages(Provider& provider, LoopBackMemory& memory) {
  memory.source = pattern(1);
  memory.target.assign(test_bytes, std::byte{0});
  std::unique_ptr<Registration> reading, writing;
  if (provider.limits().local_registration) {
    reading = register_or_throw(provider, memory.source.data(), MemoryKind::host, false);
    writing = register_or_throw(provider, memory.target.data(), MemoryKind::host, false);
  }
  Driver driver(provider);
  const Segment from{memory.source.data(), test_bytes, reading.get()};
  check_send(driver, from, memory.source);
  check_tagged(driver, from, {memory.target.data(), test_bytes, writing.get()});
  compare("tagged send and receive", provider, memory.target, memory.source);
}

void check_rma(Provider& provider, LoopBackMemory& memory) {
  memory.source = pattern(3);
  memory.target.assign(test_bytes, std::byte{0});
  memory.back.assign(test_bytes, std::byte{0});
  const auto own = register_or_throw(provider, memory.source.data(), MemoryKind::host, false);
  const auto exposed = register_or_throw(provider, memory.target.data(), MemoryKind::host, true);
  const auto returned = register_or_throw(provider, memory.back.data(), MemoryKind::host, false);
  Driver driver(provider);
  const Segment from{memory.source.data(), test_bytes, own.get()};
  const Segment to{memory.back.data(), test_bytes, returned.get()};
  const RemoteSegment remote{exposed->remote_address(), test_bytes, exposed->key()};
  int context = 0;
  driver.forget();
  driver.post("write", [&] { return provider.write(driver.self(), {&from, 1}, {&remote, 1}, &context, 0); });
  driver.await_completions("write", 1);
  compare("write", provider, memory.target, memory.source);
  driver.forget();
  driver.post("read", [&] { return provider.read(driver.self(), {&to, 1}, {&remote, 1}, &context, 0); });
  driver.await_completions("read", 1);
  compare("read", provider, memory.back, memory.source);
}

void check_device_memory(Provider& provider, LoopBackMemory& memory) {
  memory.source = pattern(7);
  memory.back.assign(test_bytes, std::byte{0});
  memory.device_source = gpu::DeviceBuffer(0, test_bytes);
  memory.device_target = gpu::DeviceBuffer(0, test_bytes);
  void* source = memory.device_source.data();
  void* target = memory.device_target.data();
  const auto copy = [](void* to, const void* from) {
    Result result = gpu::copy_and_wait(to, from, test_bytes);
    if (result.is_error()) throw *result.take_error();
  };
  copy(source, memory.source.data());
  copy(target, memory.back.data());
  const auto reading = register_or_throw(provider, source, MemoryKind::device, false);
  const auto writing = register_or_throw(provider, target, MemoryKind::device, false);
  Driver driver(provider);
  check_tagged(driver, {source, test_bytes, reading.get()}, {target, test_bytes, writing.get()});
  copy(memory.back.data(), target);
  compare("device memory", provider, memory.back, memory.source);
}

}  // namespace lath::providers
