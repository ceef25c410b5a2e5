#include <cstring>
#include <vector>

#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"

namespace lath::gpu {
namespace {

using emulator::call;
using emulator::current_device;
using emulator::Entry;
using emulator::LoadedModule;
using emulator::process;

constexpr std::size_t most_argument_bytes = 4096;

CUfunction as_function(HostKernel& kernel) {
  return reinterpret_cast<CUfunction>(&kernel);
}

bool find_kernel(CUfunction function, HostKernel& out) {
  const std::lock_guard lock(process().mutex);
  for (auto& [handle, module] : process().modules)
    for (auto& kernel : module->kernels)
      if (as_function(kernel) == function) {
        out = kernel;
        return true;
      }
  return false;
}

void run(const HostKernel& kernel, const void* arguments, std::uint64_t grid_threads) {
  const auto& window = process().memory.window();
  if (!emulator::faithful()) return kernel.run(arguments, Grid(0, 1, window));
  for (std::uint64_t thread = 0; thread < grid_threads; ++thread)
    kernel.run(arguments, Grid(thread, grid_threads, window));
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return call(Entry::cuModuleLoadData, [&] {
    if (current_device() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (out == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    HostModuleImage given;
    if (std::memcmp(image, given.magic, sizeof given.magic) != 0) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    std::memcpy(&given, image, sizeof given);
    auto made = std::make_unique<LoadedModule>();
    made->kernels.assign(given.kernels, given.kernels + given.count);
    *out = reinterpret_cast<CUmodule>(made.get());
    const std::lock_guard lock(process().mutex);
    process().modules.emplace(*out, std::move(made));
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return call(Entry::cuModuleUnload, [&] {
    const std::lock_guard lock(process().mutex);
    return process().modules.erase(module) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  return call(Entry::cuModuleGetFunction, [&] {
    if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(process().mutex);
    const auto found = process().modules.find(module);
    if (found == process().modules.end()) return CUDA_ERROR_INVALID_HANDLE;
    for (auto& kernel : found->second->kernels) {
      if (std::strcmp(kernel.name, name) != 0) continue;
      *out = as_function(kernel);
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned, CUstream handle,
                        void** parameters, void** extra) {
  return call(Entry::cuLaunchKernel, [&] {
    auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const auto stream = process().stream(handle, *device);
    HostKernel kernel{};
    if (stream == nullptr || !find_kernel(function, kernel)) return CUDA_ERROR_INVALID_HANDLE;
    // Host kernels know one dimension and one argument.
    if (grid_x == 0 || grid_x > 0x7fffffffU || grid_y != 1 || grid_z != 1 || block_x == 0 || block_x > 1024 ||
        block_y != 1 || block_z != 1 || extra != nullptr || parameters == nullptr || parameters[0] == nullptr)
      return CUDA_ERROR_INVALID_VALUE;
    if (kernel.argument_bytes > most_argument_bytes) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    const auto* const first = static_cast<const std::byte*>(parameters[0]);
    auto arguments = std::make_shared<std::vector<std::byte>>(first, first + kernel.argument_bytes);
    const std::uint64_t threads = std::uint64_t{grid_x} * block_x;
    process().submit(*stream, [kernel, arguments, threads] { run(kernel, arguments->data(), threads); });
    return CUDA_SUCCESS;
  });
}

}  // namespace lath::gpu
