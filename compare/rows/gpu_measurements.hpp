// What a comparison asks of the GPU library, besides what the door has for every command
// (attention_cuda/door/door.hpp): rates, rows with their counters, counters of other kernels.
//
// Errors   GpuLibraryMissing: no such library, or a library of another build. Otherwise each call
//          throws the exceptions of its counterpart in compare/cuda/.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attention_cuda/door/crossing.hpp"
#include "compare/counters/hardware_counters.hpp"
#include "compare/model/calibrated_rates.hpp"
#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

struct CalibrationOptions {
  int num_samples = 5;
  double sample_ms = 20;
};

struct CalibrationResult {
  Calibration calibration;            // medians
  std::vector<CalibratedRate> rates;  // with their spread, in the order of kCalibrationKeys
};

struct MeasureOptions {
  int repeat = 5;          // timed calls, after one warm-up
  std::uint64_t seed = 1;  // of the inputs, which differ for each call
  bool counters = true;
};

/// See calibrate and measure in compare/cuda.
CalibrationResult calibrate_gpu(const CalibrationOptions& options = {});
void measure_on_gpu(Row& row, const MachineModel& data_sheet, const MeasureOptions& options);
/// See count_on_gpu in hardware_counters.hpp. `call` must not throw. Without the library, `why_not`
/// says so.
std::vector<CountedRange> count_in_library(const std::function<void(RangeMarker&)>& call,
                                           std::string& why_not);

/// The library's side of the calls above. Each sets `result` or returns an error.
class GpuMeasurements {
 public:
  virtual cuda::door::Outcome calibrate(const CalibrationOptions& options,
                                        CalibrationResult& result) = 0;
  virtual cuda::door::Outcome measure(Row& row, const MachineModel& data_sheet,
                                      const MeasureOptions& options) = 0;
  virtual cuda::door::Outcome count(const std::function<void(RangeMarker&)>& call,
                                    std::vector<CountedRange>& result, std::string& why_not) = 0;

 protected:
  ~GpuMeasurements() = default;
};

inline constexpr const char* kGpuMeasurementsEntrance = "flashlab_gpu_measurements";
std::string gpu_measurements_interface();

}  // namespace flashlab::compare
