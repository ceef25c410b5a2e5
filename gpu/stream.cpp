#include "gpu/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "gpu/driver_check.hpp"

namespace lath::gpu {
namespace {

constexpr unsigned threads_per_block = 256;
constexpr std::uint64_t blocks_per_multiprocessor = 32;

CUdeviceptr as_device(const void* address) noexcept {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(address));
}

// Enough blocks to fill the device; the kernels stride over the rest.
std::uint64_t most_blocks(int device) noexcept {
  static std::array<std::atomic<std::uint64_t>, 64> known;
  auto& cached = known[static_cast<std::size_t>(device) % known.size()];
  if (const auto blocks = cached.load(std::memory_order_relaxed); blocks != 0) return blocks;
  int processors = 0;
  CUdevice handle = 0;
  if (driver()->cuDeviceGet(&handle, device) != CUDA_SUCCESS ||
      driver()->cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle) !=
          CUDA_SUCCESS ||
      processors < 1)
    processors = 1;
  const auto blocks = static_cast<std::uint64_t>(processors) * blocks_per_multiprocessor;
  cached.store(blocks, std::memory_order_relaxed);
  return blocks;
}

// Set-up's form: a failing guard or call throws.
void need_context(const ContextGuard& guard, const char* doing) {
  if (driver() == nullptr)
    throw Error(Code::not_supported, fmt::format("{}: no GPU is in use ({})", doing, availability().reason));
  throw_unless_success(guard.status(), doing);
}

}  // namespace

void StreamTraits::destroy(type stream) noexcept {
  driver()->cuStreamDestroy_v2(stream);
}

void EventTraits::destroy(type event) noexcept {
  driver()->cuEventDestroy_v2(event);
}

Event::Event(int device) {
  const ContextGuard guard(device);
  need_context(guard, "creating an event");
  throw_unless_success(driver()->cuEventCreate(handle_.receive(), CU_EVENT_DISABLE_TIMING_FLAG),
                       "cuEventCreate");
}

Result Event::poll() noexcept {
  const auto code = driver()->cuEventQuery(handle_.get());
  if (code == CUDA_ERROR_NOT_READY) return Result::again();
  return result_of(code, "cuEventQuery");
}

Result Event::synchronize() noexcept {
  return result_of(driver()->cuEventSynchronize(handle_.get()), "cuEventSynchronize");
}

Stream::Stream(int device) : device_(device) {
  const ContextGuard guard(device);
  need_context(guard, "creating a stream");
  throw_unless_success(driver()->cuStreamCreate(handle_.receive(), CU_STREAM_NON_BLOCKING_FLAG),
                       "cuStreamCreate");
}

Result Stream::copy(void* destination, const void* source, std::size_t bytes) noexcept {
  if (bytes == 0) return Result::done();
  const ContextGuard guard(device_);
  return result_of(driver()->cuMemcpyAsync(as_device(destination), as_device(source), bytes, handle_.get()),
                   "cuMemcpyAsync");
}

Result Stream::record(Event& event) noexcept {
  const ContextGuard guard(device_);
  return result_of(driver()->cuEventRecord(event.get(), handle_.get()), "cuEventRecord");
}

Result Stream::wait(const Event& event) noexcept {
  const ContextGuard guard(device_);
  return result_of(driver()->cuStreamWaitEvent(handle_.get(), event.get(), 0), "cuStreamWaitEvent");
}

Result Stream::launch(CUfunction function, std::uint64_t work, const void* arguments) noexcept {
  if (work == 0) return Result::done();
  const ContextGuard guard(device_);
  const auto wanted = (work - 1) / threads_per_block + 1;
  const auto blocks = static_cast<unsigned>(std::min(wanted, most_blocks(device_)));
  void* parameters[] = {const_cast<void*>(arguments)};
  return result_of(driver()->cuLaunchKernel(function, blocks, 1, 1, threads_per_block, 1, 1, 0, handle_.get(),
                                            parameters, nullptr),
                   "cuLaunchKernel");
}

Result Stream::synchronize() noexcept {
  const ContextGuard guard(device_);
  return result_of(driver()->cuStreamSynchronize(handle_.get()), "cuStreamSynchronize");
}

Result copy_and_wait(void* destination, const void* source, std::size_t bytes) noexcept {
  if (bytes == 0) return Result::done();
  if (driver() == nullptr)
    return Result::failure(Code::not_supported, "copying through the GPU: no GPU is in use");
  const auto to = memory_info(destination);
  const auto from = memory_info(source);
  try {
    Stream stream(std::max({to.device, from.device, 0}));
    Result copied = stream.copy(destination, source, bytes);
    return copied.is_done() ? stream.synchronize() : std::move(copied);
  } catch (const Error& error) {
    return Result::failure(error);
  }
}

}  // namespace lath::gpu
