// Kernels as an application has them.
#include "gpu/kernel.hpp"

namespace lath::gpu {

struct FillArguments {
  std::uint64_t count;
  double* numbers;
};

LATH_KERNEL_BODY void fill(const FillArguments& arguments, const Grid& grid) {
  double* const numbers = grid.address(arguments.numbers);
  for (std::uint64_t i = grid.first(); i < arguments.count; i += grid.step())
    numbers[i] = static_cast<double>(i);
}

struct ScaleArguments {
  std::uint64_t count;
  double* numbers;
  double factor;
};

LATH_KERNEL_BODY void scale(const ScaleArguments& arguments, const Grid& grid) {
  double* const numbers = grid.address(arguments.numbers);
  for (std::uint64_t i = grid.first(); i < arguments.count; i += grid.step()) numbers[i] *= arguments.factor;
}

LATH_KERNEL(test_fill, FillArguments, fill)
LATH_KERNEL(test_scale, ScaleArguments, scale)

}  // namespace lath::gpu
