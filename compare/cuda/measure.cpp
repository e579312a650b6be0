#include "compare/cuda/measure.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>
#include <vector>

#include "attention_cuda/timed_call.hpp"
#include "compare/counters/counted_steps.hpp"
#include "compare/counters/hardware_counters.hpp"
#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/sm_clock.hpp"
#include "compare/rows/sweep.hpp"

namespace flashlab::compare {
namespace {

/// A step with more launches is counted as one range, because each range of the
/// profiler costs milliseconds.
constexpr std::int64_t kMostRanges = 64;

std::string gigabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", 1e-9 * static_cast<double>(bytes));
  return text;
}

/// Why the call does not fit in memory. Allocates nothing.
std::string does_not_fit(const Row& row, const Call& call,
                         const cuda::ExecutionOptions& execution) {
  std::size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  const auto workspace =
      static_cast<std::int64_t>(cuda::workspace_bytes(call.variant, call.problem, execution));
  const std::int64_t flushed = 4 * cuda::current_gpu().l2_bytes;  // a timed call flushes L2
  const std::int64_t needed = row.tensor_bytes + workspace + flushed;
  if (needed <= static_cast<std::int64_t>(free_bytes)) return {};
  return std::string(kDoesNotFit) + gigabytes(needed) + " needed, " +
         gigabytes(static_cast<std::int64_t>(free_bytes)) + " of the GPU's " +
         gigabytes(static_cast<std::int64_t>(total_bytes)) + " free";
}

/// Marks a range of the profiler for each kernel of a call.
class RangeForEachKernel : public cuda::KernelObserver {
 public:
  explicit RangeForEachKernel(RangeMarker& marker) : marker_(marker) {}
  void before(std::string_view kernel, cuda::Stream) override { marker_.begin(kernel); }
  void after(std::string_view, cuda::Stream stream) override {
    const cudaError_t error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess && error_ == cudaSuccess) error_ = error;
    marker_.end();
  }
  void check() const { check_cuda(error_, "cudaStreamSynchronize"); }

 private:
  RangeMarker& marker_;
  cudaError_t error_ = cudaSuccess;
};

Measurement times_of(const cuda::Samples& samples) {
  Measurement measured;
  measured.median_ms = samples.median();
  measured.least_ms = samples.least();
  measured.most_ms = samples.most();
  measured.num_samples = static_cast<int>(samples.ms.size());
  return measured;
}

/// The median clock of calls like those that were timed: the GPU does the same between them.
std::optional<double> clock_ghz_of(cuda::TimedCall& call, const MeasureOptions& options) {
  SmClock clock;
  std::vector<double> all;
  for (int run = 0; run < options.repeat; ++run) {
    call.draw_inputs(options.seed + static_cast<std::uint64_t>(run));
    call.prepare();
    call.clear();
    clock.start();
    call.run(nullptr);
    clock.end();
    call.check_outputs();
    if (const auto ghz = clock.ghz()) all.push_back(*ghz);
  }
  if (all.empty()) return std::nullopt;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

Step* find_step(Row& row, std::string_view name) {
  const auto found = std::find_if(row.steps.begin(), row.steps.end(),
                                  [&](const Step& step) { return step.name == name; });
  return found == row.steps.end() ? nullptr : &*found;
}

void time_steps(Row& row, cuda::TimedCall& call, const MeasureOptions& options) {
  for (const cuda::KernelTotal& total :
       cuda::sample_by_kernel(call, options.repeat, options.seed)) {
    Step* const step = find_step(row, total.kernel);
    if (step == nullptr) continue;
    step->measured.emplace();
    step->measured->median_ms = total.ms;
    step->measured->num_samples = options.repeat;
  }
}

void run_in_ranges(cuda::TimedCall& call, RangeMarker& marker) {
  RangeForEachKernel observer(marker);
  call.run(&observer);
  observer.check();
}

void count_call(Row& row, cuda::TimedCall& call) {
  std::int64_t num_launches = 0;
  for (const Step& step : row.steps) num_launches += step.num_launches;
  const bool by_kernel = num_launches <= kMostRanges;
  std::string why_not;
  const auto counted = count_on_gpu(
      [&](RangeMarker& marker) {
        call.clear();
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        if (by_kernel) return run_in_ranges(call, marker);
        marker.begin("call");
        call.run(nullptr);
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        marker.end();
      },
      why_not);
  row.measured->why_no_counters = why_not;
  if (counted.empty()) return;
  if (!by_kernel) return take_counters(*row.measured, counted.front().counters);
  take_counted_ranges(row, counted);
}

void measure_or_throw(Row& row, const MachineModel& data_sheet, const MeasureOptions& options) {
  const Call request = call_of(row);
  cuda::ExecutionOptions execution;
  execution.products = request.products;
  execution.kernel = row.kernel;
  row.failure = does_not_fit(row, request, execution);
  if (!row.failure.empty()) return;
  cuda::TimedCall call(request.variant, request.problem, execution);
  Measurement measured = times_of(cuda::sample(call, options.repeat, options.seed));
  const double floor = floor_ms(row, data_sheet);
  if (*measured.least_ms < floor) {
    row.failure = "wrong: " + std::to_string(*measured.least_ms) + " ms, below the floor of " +
                  std::to_string(floor) + " ms";
    return;
  }
  measured.clock_ghz = clock_ghz_of(call, options);
  row.measured = measured;
  time_steps(row, call, options);
  if (options.counters) {
    count_call(row, call);
  } else {
    row.measured->why_no_counters = "not requested (--no-counters)";
  }
}

}  // namespace

void measure(Row& row, const MachineModel& data_sheet, const MeasureOptions& options) {
  row.measured.reset();
  for (Step& step : row.steps) step.measured.reset();
  try {
    measure_or_throw(row, data_sheet, options);
  } catch (const std::bad_alloc& error) {
    row.failure = error.what();
  } catch (const std::exception& error) {  // ProblemError, CudaError, NaN in an output
    row.failure = error.what();
  }
  if (!row.failure.empty()) row.measured.reset();
}

}  // namespace flashlab::compare
