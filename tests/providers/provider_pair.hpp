#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "providers/registry.hpp"
#include "tests/providers/stub_provider.hpp"

namespace lath::providers {

/// What a provider reported, for tests.
struct Reported final : Events {
  struct Ended {
    std::size_t times = 0;
    std::size_t bytes = 0;
    std::unique_ptr<Error> error;
  };
  std::vector<std::vector<std::byte>> messages;
  std::map<Context, Ended> ended;
  std::map<PeerId, Ended> unreachable;
  std::size_t completions = 0;
  std::function<void()> inside;  ///< called from within every event

  void on_message(std::span<const std::byte> bytes) override {
    messages.emplace_back(bytes.begin(), bytes.end());
    if (inside) inside();
  }
  void on_completion(Context context, std::size_t bytes, const Error* error) override {
    Ended& end = ended[context];
    ++end.times;
    ++completions;
    end.bytes = bytes;
    if (error != nullptr) end.error = std::make_unique<Error>(*error);
    if (inside) inside();
  }
  void on_unreachable(PeerId peer, const Error& error) override {
    Ended& end = unreachable[peer];
    ++end.times;
    end.error = std::make_unique<Error>(error);
    if (inside) inside();
  }
};

inline std::vector<std::byte> numbered_bytes(std::size_t length, unsigned seed) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 253 + seed);
  return bytes;
}

/// Two connected providers of one kind in this process: "stub", or a name that open() takes. Where such a
/// provider cannot be opened the test is skipped with the reason.
class ProviderPair : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      a = make();
      b = make();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    to_b = a->connect(b->address());
    to_a = b->connect(a->address());
  }
  void TearDown() override {
    // b first: what a still had under way must not disturb closing.
    kept.clear();
    b.reset();
    a.reset();
    EXPECT_TRUE(network.violations().empty()) << network.violations().front();
    EXPECT_EQ(network.registrations(), 0U);
  }

  std::unique_ptr<Provider> make() { return GetParam() == "stub" ? network.attach() : open(GetParam()); }

  /// Drives both sides until `finished`; fails the test after some seconds.
  ::testing::AssertionResult drive(const std::function<bool()>& finished) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!finished()) {
      for (Provider* provider : {a.get(), b.get()}) {
        if (provider == nullptr) continue;
        const Result result = provider->poll(provider == a.get() ? at_a : at_b);
        if (result.is_error()) return ::testing::AssertionFailure() << result.error().what();
      }
      if (std::chrono::steady_clock::now() > deadline)
        return ::testing::AssertionFailure() << "nothing more happens";
    }
    return ::testing::AssertionSuccess();
  }
  /// Repeats a post until it is taken.
  ::testing::AssertionResult post(const std::function<Result()>& attempt) {
    std::string problem;
    ::testing::AssertionResult driven = drive([&] {
      const Result result = attempt();
      if (result.is_error()) problem = result.error().what();
      return !result.is_again();
    });
    if (!driven) return driven;
    return problem.empty() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << problem;
  }
  /// Registers where the provider asks for it; kept until the test's end.
  const Registration* registered(Provider& provider, void* address, std::size_t length,
                                 bool writable = true) {
    if (!provider.limits().local_registration) return nullptr;
    std::unique_ptr<Error> why;
    kept.push_back(provider.register_memory(address, length, MemoryKind::host, writable, false, why));
    EXPECT_NE(kept.back(), nullptr) << why->what();
    return kept.back().get();
  }
  /// `bytes` as a list of `count` uneven segments.
  static std::vector<Segment> split(std::vector<std::byte>& bytes, std::size_t count,
                                    const Registration* registration) {
    std::vector<Segment> list;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t left = bytes.size() - at;
      const std::size_t length =
          i + 1 == count ? left : std::min(left / (count - i) + i, left - (count - i - 1));
      list.push_back({bytes.data() + at, length, registration});
      at += length;
    }
    return list;
  }

  StubNetwork network;
  std::unique_ptr<Provider> a, b;
  std::vector<std::unique_ptr<Registration>> kept;
  PeerId to_a = 0, to_b = 0;
  Reported at_a, at_b;
};

/// The parameter as a part of a test's name.
inline std::string provider_name(const testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
}

}  // namespace lath::providers
