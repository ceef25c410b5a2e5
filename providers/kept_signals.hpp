#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

namespace lath::providers {

/// While it lives SIGINT and SIGTERM wait, and when it ends the fatal and terminating signals do again what
/// they did before. For libraries that take them over when they are loaded: libfabric brings
/// libpsm_infinipath along, which does so also when fabrics are asked for, and whose handler calls exit()
/// wherever the process is, which deadlocks inside a library's own set-up; UCX wants to print its own
/// backtraces. Set-up only.
class KeptSignals {
 public:
  KeptSignals() noexcept {
    sigset_t waiting;
    sigemptyset(&waiting);
    sigaddset(&waiting, SIGINT);
    sigaddset(&waiting, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &waiting, &mask_);
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &actions_[i]);
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &actions_[i], nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr std::array signals{SIGHUP, SIGINT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM};
  sigset_t mask_{};
  std::array<struct sigaction, signals.size()> actions_{};
};

}  // namespace lath::providers
