#include "gpu/pack_image.hpp"

#include <array>

#include "gpu/pack_kernels.cu"

namespace lath::gpu {
namespace fatbins {
const void* pack_fatbin();
}

const KernelImage& pack_image() {
  static const std::array host_kernels{
      lath_pack_nest_1_host_kernel,    lath_pack_nest_2_host_kernel,    lath_pack_nest_4_host_kernel,
      lath_pack_nest_8_host_kernel,    lath_pack_nest_16_host_kernel,   lath_unpack_nest_1_host_kernel,
      lath_unpack_nest_2_host_kernel,  lath_unpack_nest_4_host_kernel,  lath_unpack_nest_8_host_kernel,
      lath_unpack_nest_16_host_kernel, lath_pack_table_1_host_kernel,   lath_pack_table_2_host_kernel,
      lath_pack_table_4_host_kernel,   lath_pack_table_8_host_kernel,   lath_pack_table_16_host_kernel,
      lath_unpack_table_1_host_kernel, lath_unpack_table_2_host_kernel, lath_unpack_table_4_host_kernel,
      lath_unpack_table_8_host_kernel, lath_unpack_table_16_host_kernel};
  static const KernelImage image{fatbins::pack_fatbin(), host_kernels};
  return image;
}

}  // namespace lath::gpu
