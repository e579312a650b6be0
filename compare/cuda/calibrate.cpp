#include "compare/cuda/calibrate.hpp"

#include <algorithm>
#include <iterator>

#include "attention_cuda/kernel_listing.hpp"
#include "compare/cuda/micro_benchmarks.hpp"

namespace flashlab::compare {
namespace {

std::ptrdiff_t place_of(const CalibratedRate& rate) {
  return std::find(std::begin(kCalibrationKeys), std::end(kCalibrationKeys), rate.key) -
         std::begin(kCalibrationKeys);
}

}  // namespace

CalibrationResult calibrate(const CalibrationOptions& options) {
  const cuda::GpuInfo gpu = cuda::current_gpu();
  CalibrationResult result;
  Calibration& calibration = result.calibration;
  calibration.gpu_name = gpu.name;
  calibration.date = utc_now();
  calibration.driver = cuda::cuda_version_text(gpu.driver_version);
  calibration.cuda = cuda::cuda_version_text(gpu.runtime_version);
  calibration.l2_bytes = gpu.l2_bytes;
  for (auto* const benchmarks : {dram_benchmarks, l2_benchmarks, shared_memory_benchmarks,
                                 addition_benchmarks, tensor_core_benchmarks,
#ifdef FLASHLAB_HAS_SM90
                                 bulk_addition_benchmarks, wgmma_benchmarks,
#endif
                                 arithmetic_benchmarks, launch_benchmarks}) {
    for (const MicroBenchmark& benchmark : benchmarks(gpu)) {  // its buffers live for one iteration
      result.rates.push_back(measured_rate(benchmark, {options.num_samples, options.sample_ms}));
    }
  }
  std::stable_sort(
      result.rates.begin(), result.rates.end(),
      [](const CalibratedRate& a, const CalibratedRate& b) { return place_of(a) < place_of(b); });
  put_rates(calibration, result.rates);
  return result;
}

}  // namespace flashlab::compare
