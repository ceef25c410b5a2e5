#include "tests/transport/exchange.hpp"

#include <cstdlib>

#include "base/config.hpp"

namespace lath::transport {
namespace {

struct Case {
  const char* name;
  providers::StubOptions options;
};

providers::StubOptions with(void (*change)(providers::StubOptions&)) {
  providers::StubOptions options;
  change(options);
  return options;
}

class StubExchange : public testing::TestWithParam<Case> {};

TEST_P(StubExchange, RandomMessages) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    providers::StubOptions first = GetParam().options, second = GetParam().options;
    first.seed = seed;
    second.seed = seed + 1000;
    Pair pair(first, second);
    ExchangeOptions options;
    options.seed = seed;
    Exchange(pair, options).run();
    const auto violations = pair.network.violations();
    ASSERT_TRUE(violations.empty()) << violations.front();
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Providers, StubExchange,
    testing::Values(
        Case{"plain", {}}, Case{"unordered", with([](auto& options) { options.limits.ordered = false; })},
        Case{"back_pressure", with([](auto& options) { options.again_probability = 0.4; })},
        Case{"late", with([](auto& options) { options.delay_polls = 5; })},
        Case{"lists_of_1",
             with([](auto& options) { options.limits.send_list = options.limits.receive_list = 1; })},
        Case{"lists_of_30_and_14", with([](auto& options) {
               options.limits.send_list = 30;
               options.limits.receive_list = 14;
             })},
        Case{"small_messages", with([](auto& options) { options.limits.max_message = 1500; })},
        Case{"registration", with([](auto& options) { options.limits.local_registration = true; })},
        Case{"no_inject", with([](auto& options) { options.limits.inject_bytes = 0; })},
        Case{"shallow_queue", with([](auto& options) {
               options.limits.queue_depth = 2;
               options.receive_buffers = 2;
               options.events_per_poll = 1;
             })},
        Case{"everything", with([](auto& options) {
               options.limits.ordered = false;
               options.limits.local_registration = true;
               options.limits.max_message = 3000;
               options.again_probability = 0.3;
               options.delay_polls = 3;
               options.events_per_poll = 2;
             })}),
    [](const auto& info) { return std::string(info.param.name); });

/// Forces a scheme for its lifetime.
class Forced {
 public:
  explicit Forced(const char* scheme) {
    setenv("LATH_SCHEME", scheme, 1);
    config::reload();
  }
  ~Forced() {
    unsetenv("LATH_SCHEME");
    config::reload();
    read_tuning();
  }
};

class ForcedExchange : public testing::TestWithParam<const char*> {};

TEST_P(ForcedExchange, RandomMessages) {
  const Forced forced(GetParam());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    providers::StubOptions stub;
    stub.limits.send_list = 1 + seed % 7;
    stub.limits.receive_list = 1 + seed % 5;
    Pair pair(stub);
    ExchangeOptions options;
    options.seed = seed;
    Exchange(pair, options).run();
    const auto violations = pair.network.violations();
    ASSERT_TRUE(violations.empty()) << violations.front();
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Schemes, ForcedExchange,
                         testing::Values("contiguous", "gather", "host_pack", "staged"),
                         [](const auto& info) { return std::string(info.param); });

class ProviderExchange : public testing::TestWithParam<const char*> {};

TEST_P(ProviderExchange, RandomMessages) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::unique_ptr<Pair> pair;
    try {
      pair = std::make_unique<Pair>(std::string_view(GetParam()));
    } catch (const Error& error) {
      GTEST_SKIP() << GetParam() << " is not viable here: " << error.what();
    }
    ExchangeOptions options;
    options.seed = seed;
    options.most_copies = 400;
    Exchange(*pair, options).run();
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Providers, ProviderExchange,
                         testing::Values("ofi:tcp", "ofi:shm", "ofi:cxi", "verbs", "ucx:shm", "ucx:tcp",
                                         "ucx:rc_verbs,tcp"),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char letter) { return letter == ':' || letter == ','; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace lath::transport
