#include <array>

#include "apps/wave/kernel_entries.hpp"
#include "apps/wave/kernel_image.hpp"

namespace lath::gpu::fatbins {
const void* wave_fatbin();
}

namespace lath::wave {

std::span<const gpu::HostKernel> host_kernels() {
  static const std::array<gpu::HostKernel, 8> kernels{
      wave_predictor_c_host_kernel,       wave_predictor_fortran_host_kernel, wave_corrector_c_host_kernel,
      wave_corrector_fortran_host_kernel, wave_acceleration_host_kernel,      wave_add_points_host_kernel,
      wave_set_points_host_kernel,        wave_record_points_host_kernel};
  return kernels;
}

gpu::KernelImage kernel_image() {
  return gpu::KernelImage{gpu::fatbins::wave_fatbin(), host_kernels()};
}

}  // namespace lath::wave
