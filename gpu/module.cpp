#include <fmt/format.h>

#include "gpu/driver_check.hpp"
#include "gpu/stream.hpp"

namespace lath::gpu {

void ModuleTraits::destroy(type module) noexcept {
  driver()->cuModuleUnload(module);
}

Module::Module(int device, const KernelImage& image) : device_(device) {
  const auto& gpu = availability();
  if (!gpu.available) throw Error(Code::not_supported, fmt::format("no GPU is in use ({})", gpu.reason));
  HostModuleImage host_image;
  host_image.kernels = image.host_kernels.data();
  host_image.count = image.host_kernels.size();
  const void* chosen = gpu.emulated ? &host_image : image.fatbin;
  if (chosen == nullptr)
    throw Error(Code::not_supported, "this build has no GPU kernels: it was made without nvcc");
  const ContextGuard guard(device);
  throw_unless_success(guard.status(), fmt::format("using device {}", device));
  throw_unless_success(driver()->cuModuleLoadData(handle_.receive(), chosen),
                       fmt::format("loading kernels on device {}", device));
}

CUfunction Module::function(const char* name) const {
  const ContextGuard guard(device_);
  CUfunction out = nullptr;
  throw_unless_success(driver()->cuModuleGetFunction(&out, handle_.get(), name),
                       fmt::format("looking up kernel {}", name));
  return out;
}

}  // namespace lath::gpu
