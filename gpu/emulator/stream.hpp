#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace lath::gpu::emulator {

/// A point in some stream that event calls ask for.
class Marker {
 public:
  void pass();
  [[nodiscard]] bool passed();
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool passed_ = false;
};

/// Operations carried out one after the other by a thread of their own, which starts with the first and ends
/// when the stream is closed and empty. Thread safe.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(int device, bool blocking, std::uint64_t number);

  /// Returns the operation's ticket at once.
  std::uint64_t submit(std::function<void()> operation);
  /// The last ticket given out.
  [[nodiscard]] std::uint64_t tail();
  [[nodiscard]] bool idle();
  void wait_for(std::uint64_t ticket);
  void close();

  [[nodiscard]] int device() const { return device_; }
  /// Whether it is ordered with the device's default stream.
  [[nodiscard]] bool blocking() const { return blocking_; }

 private:
  void run();
  void delay();

  const int device_;
  const bool blocking_;
  const std::uint64_t number_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::uint64_t given_ = 0;
  std::uint64_t done_ = 0;
  bool started_ = false;
  bool closed_ = false;
  std::uint64_t seed_ = 0;   // the stream's thread alone
  std::minstd_rand random_;  // the stream's thread alone
};

/// Random delays before stream operations: none while microseconds is 0.
void set_delay(std::uint64_t microseconds, std::uint64_t seed) noexcept;

}  // namespace lath::gpu::emulator
