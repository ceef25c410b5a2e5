#include "gpu/emulator/stream.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace lath::gpu::emulator {
namespace {

std::atomic<std::uint64_t> delay_microseconds{0};
std::atomic<std::uint64_t> delay_seed{1};

}  // namespace

void set_delay(std::uint64_t microseconds, std::uint64_t seed) noexcept {
  delay_seed.store(seed, std::memory_order_relaxed);
  delay_microseconds.store(microseconds, std::memory_order_relaxed);
}

void Marker::pass() {
  const std::lock_guard lock(mutex_);
  passed_ = true;
  changed_.notify_all();
}

bool Marker::passed() {
  const std::lock_guard lock(mutex_);
  return passed_;
}

void Marker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return passed_; });
}

Stream::Stream(int device, bool blocking, std::uint64_t number)
    : device_(device), blocking_(blocking), number_(number) {}

std::uint64_t Stream::submit(std::function<void()> operation) {
  const std::lock_guard lock(mutex_);
  if (!started_) {
    std::thread([self = shared_from_this()] { self->run(); }).detach();
    started_ = true;
  }
  waiting_.push_back(std::move(operation));
  changed_.notify_all();
  return ++given_;
}

std::uint64_t Stream::tail() {
  const std::lock_guard lock(mutex_);
  return given_;
}

bool Stream::idle() {
  const std::lock_guard lock(mutex_);
  return done_ == given_;
}

void Stream::wait_for(std::uint64_t ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= ticket; });
}

void Stream::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Stream::delay() {
  const auto most = delay_microseconds.load(std::memory_order_relaxed);
  if (most == 0) return;
  if (const auto seed = delay_seed.load(std::memory_order_relaxed); seed != seed_) {
    seed_ = seed;
    random_.seed(static_cast<std::minstd_rand::result_type>(seed * 7919 + number_ * 104729 + 1));
  }
  const auto time = std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  std::this_thread::sleep_for(std::chrono::microseconds(time));
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    {
      const auto operation = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      delay();
      operation();
    }
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace lath::gpu::emulator
