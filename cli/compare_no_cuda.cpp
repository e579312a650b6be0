#include "cli/compare_gpu.hpp"
#include "cli/failure.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kNoCuda =
    "flashlab was built without CUDA: no nvcc (CUDA Toolkit 12.4 or later) was on the PATH";

}  // namespace

std::optional<GpuHere> find_gpu_here(std::string& why_not) {
  why_not = kNoCuda;
  return std::nullopt;
}

CalibrationShown calibrate_here(const Terminal&) {
  throw request_failure(std::string("no GPU to calibrate: ") + kNoCuda);
}

void measure_here(compare::Row& row, const compare::MachineModel&, const MeasureRequest&) {
  row.failure = kNoCuda;
}

}  // namespace flashlab::cli
