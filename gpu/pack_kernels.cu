// The kernel entries: compiled by nvcc for GPUs, and as part of pack_image.cpp for the emulator.
#include "gpu/pack_kernels.hpp"

namespace lath::gpu {

template <int word>
LATH_KERNEL_BODY void pack_nest(const NestArguments& arguments, const Grid& grid) {
  move_nest<word, true>(arguments, grid);
}
template <int word>
LATH_KERNEL_BODY void unpack_nest(const NestArguments& arguments, const Grid& grid) {
  move_nest<word, false>(arguments, grid);
}
template <int word>
LATH_KERNEL_BODY void pack_table(const TableArguments& arguments, const Grid& grid) {
  move_table<word, true>(arguments, grid);
}
template <int word>
LATH_KERNEL_BODY void unpack_table(const TableArguments& arguments, const Grid& grid) {
  move_table<word, false>(arguments, grid);
}

LATH_KERNEL(lath_pack_nest_1, NestArguments, pack_nest<1>)
LATH_KERNEL(lath_pack_nest_2, NestArguments, pack_nest<2>)
LATH_KERNEL(lath_pack_nest_4, NestArguments, pack_nest<4>)
LATH_KERNEL(lath_pack_nest_8, NestArguments, pack_nest<8>)
LATH_KERNEL(lath_pack_nest_16, NestArguments, pack_nest<16>)
LATH_KERNEL(lath_unpack_nest_1, NestArguments, unpack_nest<1>)
LATH_KERNEL(lath_unpack_nest_2, NestArguments, unpack_nest<2>)
LATH_KERNEL(lath_unpack_nest_4, NestArguments, unpack_nest<4>)
LATH_KERNEL(lath_unpack_nest_8, NestArguments, unpack_nest<8>)
LATH_KERNEL(lath_unpack_nest_16, NestArguments, unpack_nest<16>)
LATH_KERNEL(lath_pack_table_1, TableArguments, pack_table<1>)
LATH_KERNEL(lath_pack_table_2, TableArguments, pack_table<2>)
LATH_KERNEL(lath_pack_table_4, TableArguments, pack_table<4>)
LATH_KERNEL(lath_pack_table_8, TableArguments, pack_table<8>)
LATH_KERNEL(lath_pack_table_16, TableArguments, pack_table<16>)
LATH_KERNEL(lath_unpack_table_1, TableArguments, unpack_table<1>)
LATH_KERNEL(lath_unpack_table_2, TableArguments, unpack_table<2>)
LATH_KERNEL(lath_unpack_table_4, TableArguments, unpack_table<4>)
LATH_KERNEL(lath_unpack_table_8, TableArguments, unpack_table<8>)
LATH_KERNEL(lath_unpack_table_16, TableArguments, unpack_table<16>)

}  // namespace lath::gpu
