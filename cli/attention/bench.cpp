#include "cli/attention/bench.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

std::int64_t process_peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return std::int64_t{1024} * usage.ru_maxrss;
#endif
}

/// Inputs are finite, so a NaN means that an element was not written, or is wrong.
void check_written(const std::string& variant, AttentionTensors& tensors, Pass pass) {
  for (const OwnedTensor* const output : tensors.outputs(pass)) {
    std::int64_t count = 0;
    output->for_each([&](double value) { count += std::isnan(value) ? 1 : 0; });
    if (count == 0) continue;
    throw Failure(kExitProgramWrong, "flashlab: error: " + variant + ": " + std::to_string(count) +
                                         " of " + std::to_string(output->size()) + " elements of " +
                                         output->name() + " are NaN\n");
  }
}

MeasuredVariant measure_on_cpu(const AttentionRequest& request, const VariantInfo& variant,
                               int repeat, AttentionTensors& tensors) {
  MeasuredVariant result;
  result.variant = variant.name;
  result.flops =
      static_cast<double>(variant.pass == Pass::kForward ? forward_flops(request.problem)
                                                         : backward_flops(request.problem));
  const RunVariant run_variant = run_on_cpu(request);
  for (int run = 0; run <= repeat; ++run) {  // run 0 is the warm-up
    prepare_run(run_variant, variant, request.seed + static_cast<std::uint64_t>(run), tensors);
    const AttentionRun measured = run_variant(variant.name, tensors);
    check_written(result.variant, tensors, variant.pass);
    result.workspace_bytes = measured.workspace_bytes;
    result.num_threads = measured.num_threads;
    if (run > 0) result.seconds.push_back(measured.seconds);
  }
  std::sort(result.seconds.begin(), result.seconds.end());
  return result;
}

}  // namespace

double MeasuredVariant::median_seconds() const {
  const std::size_t half = seconds.size() / 2;
  return seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
}

Measurement measure_attention(const AttentionRequest& request, int repeat) {
  Measurement result;
  AttentionTensors tensors(request.problem, request.problem.dtype);
  for (const VariantInfo* const variant : request.variants) {
    result.variants.push_back(measure_on_cpu(request, *variant, repeat, tensors));
  }
  result.product_flops_per_s = product_rate(request);
  result.process_peak_bytes = process_peak_bytes();
  return result;
}

}  // namespace flashlab::cli
