/// The entry points of the kernels: compiled by nvcc (kernels.cu) and by the host compiler (kernels.cpp).
#pragma once

#include "apps/wave/kernels.hpp"

namespace lath::wave {

LATH_KERNEL(wave_predictor_c, PredictorArguments, predictor_body<Order::c>)
LATH_KERNEL(wave_predictor_fortran, PredictorArguments, predictor_body<Order::fortran>)
LATH_KERNEL(wave_corrector_c, CorrectorArguments, corrector_body<Order::c>)
LATH_KERNEL(wave_corrector_fortran, CorrectorArguments, corrector_body<Order::fortran>)
LATH_KERNEL(wave_acceleration, AccelerationArguments, acceleration_body)
LATH_KERNEL(wave_add_points, PointArguments, add_points_body)
LATH_KERNEL(wave_set_points, PointArguments, set_points_body)
LATH_KERNEL(wave_record_points, RecordArguments, record_points_body)

}  // namespace lath::wave
