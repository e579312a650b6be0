// The library's side of compare/rows/gpu_measurements.hpp: runs the calls, and converts exceptions
// into Outcomes.
#include "compare/rows/gpu_measurements.hpp"

#include "attention_cuda/flashlab.h"
#include "compare/counters/hardware_counters.hpp"
#include "compare/cuda/calibrate.hpp"
#include "compare/cuda/measure.hpp"

namespace flashlab::compare {
namespace {

using cuda::door::Outcome;
using cuda::door::outcome_of;

class LoadedGpuMeasurements final : public GpuMeasurements {
 public:
  Outcome calibrate(const CalibrationOptions& options, CalibrationResult& result) override {
    return outcome_of([&] { result = compare::calibrate(options); });
  }
  Outcome measure(Row& row, const MachineModel& data_sheet,
                  const MeasureOptions& options) override {
    return outcome_of([&] { compare::measure(row, data_sheet, options); });
  }
  Outcome count(const std::function<void(RangeMarker&)>& call, std::vector<CountedRange>& result,
                std::string& why_not) override {
    return outcome_of([&] { result = count_on_gpu(call, why_not); });
  }
};

}  // namespace
}  // namespace flashlab::compare

extern "C" FLASHLAB_API void* flashlab_gpu_measurements(const char* interface) {
  static flashlab::compare::LoadedGpuMeasurements measurements;
  static flashlab::compare::GpuMeasurements& entered = measurements;
  return interface == flashlab::compare::gpu_measurements_interface() ? &entered : nullptr;
}
