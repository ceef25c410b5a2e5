#include "gpu/emulator/process.hpp"

#include <pthread.h>

#include <utility>

#include "gpu/emulator/settings.hpp"

namespace lath::gpu::emulator {
namespace {

std::mutex start_mutex;
std::atomic<Process*> started{nullptr};
std::atomic<bool> forked{false};
std::atomic<bool> every_thread{false};

}  // namespace

CUresult initialise() noexcept {
  const std::lock_guard lock(start_mutex);
  if (forked) return CUDA_ERROR_NOT_INITIALIZED;
  if (started != nullptr) return CUDA_SUCCESS;
  const auto& chosen = settings();
  if (chosen.devices == 0) return CUDA_ERROR_NO_DEVICE;
  if (!chosen.problem.empty()) return CUDA_ERROR_INVALID_VALUE;
  set_delay(chosen.delay_microseconds, 1);
  set_faithful(chosen.faithful);
  try {
    // The threads behind the streams do not live on in a forked child, and CUDA does not work there either.
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
    started = new Process(chosen.devices);
  } catch (...) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

bool usable() noexcept {
  return started.load(std::memory_order_acquire) != nullptr && !forked.load(std::memory_order_relaxed);
}

Process& process() noexcept {
  return *started.load(std::memory_order_acquire);
}

bool faithful() noexcept {
  return every_thread.load(std::memory_order_relaxed);
}

void set_faithful(bool on) noexcept {
  every_thread.store(on, std::memory_order_relaxed);
}

std::vector<CUcontext>& context_stack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

Device* current_device() {
  const auto& stack = context_stack();
  return stack.empty() ? nullptr : process().device_of(stack.back());
}

Process::Process(int device_count) {
  for (int i = 0; i < device_count; ++i) {
    auto& made = devices.emplace_back(std::make_unique<Device>());
    made->ordinal = i;
    made->default_stream = std::make_shared<Stream>(i, true, 0);
  }
}

Device* Process::device(CUdevice ordinal) {
  const auto index = static_cast<std::size_t>(ordinal);
  return ordinal < 0 || index >= devices.size() ? nullptr : devices[index].get();
}

Device* Process::device_of(CUcontext context) {
  for (const auto& device : devices)
    if (device->handle() == context && device->retained > 0) return device.get();
  return nullptr;
}

std::shared_ptr<Stream> Process::stream(CUstream handle, Device& current) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 1) return current.default_stream;
  const std::lock_guard lock(mutex);
  const auto found = streams_.find(handle);
  return found == streams_.end() || found->second->device() != current.ordinal ? nullptr : found->second;
}

CUstream Process::add_stream(int device, bool blocking) {
  const std::lock_guard lock(mutex);
  auto made = std::make_shared<Stream>(device, blocking, ++last_stream_);
  auto* const handle = reinterpret_cast<CUstream>(made.get());
  streams_.emplace(handle, std::move(made));
  return handle;
}

CUresult Process::close_stream(CUstream handle) {
  const std::lock_guard lock(mutex);
  const auto found = streams_.find(handle);
  if (found == streams_.end()) return CUDA_ERROR_INVALID_HANDLE;
  found->second->close();
  std::erase_if(closing_, [](const auto& stream) { return stream->idle(); });
  closing_.push_back(found->second);
  streams_.erase(found);
  return CUDA_SUCCESS;
}

std::vector<std::shared_ptr<Stream>> Process::streams_of(int device) {
  std::vector<std::shared_ptr<Stream>> out{devices[static_cast<std::size_t>(device)]->default_stream};
  const std::lock_guard lock(mutex);
  for (const auto& [handle, stream] : streams_)
    if (stream->device() == device) out.push_back(stream);
  for (const auto& stream : closing_)
    if (stream->device() == device) out.push_back(stream);
  return out;
}

std::uint64_t Process::submit(Stream& stream, std::function<void()> operation) {
  if (!stream.blocking()) return stream.submit(std::move(operation));
  // The default stream and the blocking ones take turns: each waits for what the other side has so far.
  const bool is_default = devices[static_cast<std::size_t>(stream.device())]->default_stream.get() == &stream;
  std::vector<std::pair<std::shared_ptr<Stream>, std::uint64_t>> earlier;
  for (auto& other : streams_of(stream.device())) {
    const bool other_is_default = other == devices[static_cast<std::size_t>(stream.device())]->default_stream;
    if (other.get() != &stream && other->blocking() && (is_default || other_is_default))
      earlier.emplace_back(other, other->tail());
  }
  return stream.submit([earlier = std::move(earlier), operation = std::move(operation)] {
    for (const auto& [other, ticket] : earlier) other->wait_for(ticket);
    operation();
  });
}

void Process::synchronize(int device) {
  for (auto& stream : streams_of(device)) stream->wait_for(stream->tail());
}

}  // namespace lath::gpu::emulator
