#include "compare/rows/gpu_measurements.hpp"

namespace flashlab::compare {
namespace {

GpuMeasurements& gpu_measurements() {
  static GpuMeasurements& measurements = *static_cast<GpuMeasurements*>(
      cuda::door::enter(kGpuMeasurementsEntrance, gpu_measurements_interface()));
  return measurements;
}

}  // namespace

CalibrationResult calibrate_gpu(const CalibrationOptions& options) {
  CalibrationResult result;
  cuda::door::raise(gpu_measurements().calibrate(options, result));
  return result;
}

void measure_on_gpu(Row& row, const MachineModel& data_sheet, const MeasureOptions& options) {
  cuda::door::raise(gpu_measurements().measure(row, data_sheet, options));
}

std::vector<CountedRange> count_in_library(const std::function<void(RangeMarker&)>& call,
                                           std::string& why_not) {
  why_not = cuda::door::why_no_library();
  if (!why_not.empty()) return {};
  std::vector<CountedRange> result;
  try {
    cuda::door::raise(gpu_measurements().count(call, result, why_not));
  } catch (const std::runtime_error& error) {  // a library of another build, or an error of CUDA
    why_not = error.what();
    result.clear();
  }
  return result;
}

}  // namespace flashlab::compare
