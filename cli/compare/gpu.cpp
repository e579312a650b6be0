#include "cli/compare/gpu.hpp"

#include <cmath>

#include "attention_cuda/door/door.hpp"
#include "attention_cuda/kernel_listing.hpp"
#include "cli/compare/text.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"
#include "compare/rows/gpu_measurements.hpp"
#include "results/calibration_fields.hpp"
#include "text/numbers.hpp"

namespace flashlab::cli {
namespace {

/// Returns the data sheet's value, or 0.
double sheet_per_s(const gpu::GpuSpec& spec, const std::string& key) {
  return compare::rate_named(compare::machine_model(spec), key).value_or(compare::Rate{}).per_s;
}

std::string calibration_table(const compare::CalibrationResult& result, const Terminal& terminal) {
  const auto spec = gpu::find_gpu(result.calibration.gpu_name);
  TextTable table({{"rate"},
                   {"measured", Align::kRight},
                   {"spread", Align::kRight},
                   {"data sheet", Align::kRight},
                   {"share", Align::kRight}});
  for (const compare::CalibratedRate& rate : result.rates) {
    const std::string unit = rate.unit == "byte"        ? "B/s"
                             : rate.unit == "operation" ? "op/s"
                                                        : rate.unit + "/s";
    const double sheet = spec ? sheet_per_s(*spec, rate.key) : 0;
    const std::string share =
        sheet > 0 ? std::to_string(std::lround(100 * rate.median / sheet)) + " %" : "";
    const double spread = 100 * (rate.most - rate.least) / rate.median;
    table.row({rate.key, with_prefix(rate.median, unit), fixed_text(spread, 1) + " %",
               sheet > 0 ? with_prefix(sheet, unit) : "", share});
  }
  return result.calibration.gpu_name +
         (spec ? "" : ", not in gpu/sheets/gpus.json: no data sheet") + "\n\n" +
         table.to_string(terminal);
}

/// Describes a GPU without a data sheet by what the device reports.
gpu::GpuSpec queried(const cuda::GpuInfo& gpu) {
  gpu::GpuSpec spec;
  spec.name = gpu.name;
  spec.key = gpu.name;
  spec.compute_capability = cuda::compute_capability_text(gpu.compute_capability);
  spec.shared_memory_per_block_bytes = gpu.shared_memory_per_block_bytes;
  spec.num_sms = gpu.num_multiprocessors;
  spec.memory_bytes = gpu.memory_bytes;
  spec.l2_bytes = gpu.l2_bytes;
  return spec;
}

}  // namespace

std::optional<GpuHere> find_gpu_here(std::string& why_not) {
  try {
    const cuda::GpuInfo gpu = cuda::door::current_gpu();
    const auto listed = gpu::find_gpu(gpu.name);
    return GpuHere{gpu.name, cuda::cuda_version_text(gpu.driver_version),
                   cuda::cuda_version_text(gpu.runtime_version), listed.has_value(),
                   listed ? *listed : queried(gpu)};
  } catch (const cuda::door::GpuLibraryMissing& missing) {
    why_not = missing.what();
    return std::nullopt;
  } catch (const cuda::CudaError& error) {
    why_not = "no GPU to run on: " + error.error;
    return std::nullopt;
  }
}

CalibrationShown calibrate_here(const Terminal& terminal) {
  std::string why_not;
  if (!find_gpu_here(why_not)) throw request_failure(why_not);
  try {
    const compare::CalibrationResult result = compare::calibrate_gpu();
    return {result.calibration, calibration_table(result, terminal)};
  } catch (const std::exception& error) {  // CudaError, NoDeviceMemory
    throw Failure(kExitProgramWrong, std::string("flashlab: error: ") + error.what() + "\n");
  }
}

void measure_here(compare::Row& row, const compare::MachineModel& data_sheet,
                  const MeasureRequest& request) {
  compare::measure_on_gpu(row, data_sheet, {request.repeat, request.seed, request.counters});
}

}  // namespace flashlab::cli
