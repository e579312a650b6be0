// Rates of a GPU that is emulated: round figures, since its times mean nothing. The kernels that
// measure real ones run on GPUs only.
#include "compare/cuda/calibrate.hpp"

#include "attention_cuda/gpu.hpp"

namespace flashlab::compare {

CalibrationResult calibrate(const CalibrationOptions&) {
  CalibrationResult result;
  result.calibration.gpu_name = cuda::current_gpu().name;
  result.calibration.l2_bytes = cuda::current_gpu().l2_bytes;
  for (const std::string_view key : kCalibrationKeys) {
    const double rate = key == "launches" ? 1e5 : 1e12;
    result.rates.push_back(rate_of(std::string(key), "operation", rate, {1000, 1000}));
  }
  put_rates(result.calibration, result.rates);
  return result;
}

}  // namespace flashlab::compare
