#include "apps/wave/processor.hpp"

#include <cstring>

#include "apps/wave/kernel_image.hpp"
#include "gpu/device.hpp"

namespace lath::wave {
namespace {

void check(Result result) {
  if (result.is_error()) throw Error(result.error());
}

}  // namespace

void copy(void* destination, const void* source, std::size_t bytes, Memory memory) {
  if (bytes == 0) return;
  if (memory == Memory::host) {
    std::memcpy(destination, source, bytes);
  } else {
    check(gpu::copy_and_wait(destination, source, bytes));
  }
}

Storage::Storage(Memory memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {
  if (memory == Memory::host) {
    host_.resize(bytes);
  } else if (bytes > 0) {
    device_ = gpu::DeviceBuffer(0, bytes);
    const std::vector<std::byte> zeros(bytes);
    copy(device_.data(), zeros.data(), bytes, memory);
  }
}

void* Storage::data() const noexcept {
  return memory_ == Memory::device ? device_.data() : const_cast<std::byte*>(host_.data());
}

Processor::Processor(Memory memory) : memory_(memory) {
  if (memory == Memory::host) return;
  if (!gpu::availability().available) {
    throw Error(Code::not_supported, "no device memory here: " + gpu::availability().reason +
                                         " (without a GPU, LATH_GPU=emulated gives Lath's emulator)");
  }
  module_ = std::make_unique<gpu::Module>(0, kernel_image());
  stream_ = std::make_unique<gpu::Stream>(0);
  for (const gpu::HostKernel& kernel : host_kernels()) functions_.push_back(module_->function(kernel.name));
}

void Processor::launch_untyped(Kernel kernel, std::uint64_t work, const void* arguments) {
  if (work == 0) return;
  const auto number = static_cast<std::size_t>(kernel);
  if (memory_ == Memory::device) {
    check(stream_->launch(functions_[number], work, arguments));
    return;
  }
  const gpu::EmulatedWindow none;
  host_kernels()[number].run(arguments, gpu::Grid(0, 1, none));
}

void Processor::finish() {
  if (stream_) check(stream_->synchronize());
}

}  // namespace lath::wave
