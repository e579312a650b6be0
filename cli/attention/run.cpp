#include "cli/attention/run.hpp"

#include <chrono>
#include <new>
#include <string>

#include "attention_cpu/attention.hpp"
#include "attention_cpu/product_rate.hpp"
#include "cli/attention/progress_line.hpp"
#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

using Clock = std::chrono::steady_clock;

cpu::ExecutionOptions execution_options(const AttentionRequest& request) {
  cpu::ExecutionOptions execution;
  execution.num_threads = request.num_threads;
  execution.instruction_set = request.instruction_set;
  return execution;
}

/// Converts exceptions: a call that the library rejects is a wrong request, missing memory
/// is a limit.
template <class Work>
auto on_cpu_or_failure(const Work& work) {
  try {
    return work();
  } catch (const ProblemError& error) {
    throw request_failure(error.field + ": " + error.value, error.expected);
  } catch (const std::bad_alloc& error) {
    throw Failure(kExitLimit, std::string("flashlab: error: ") + error.what() + "\n");
  }
}

AttentionRun run_variant(const AttentionRequest& request, std::string_view variant,
                         AttentionTensors& tensors) {
  const Pass pass = find_variant(variant).pass;
  for (OwnedTensor* const output : tensors.outputs(pass)) output->fill_with_nan();
  ProgressLine progress;
  cpu::ExecutionOptions execution = execution_options(request);
  execution.progress = [&](double share) {
    progress.show(std::string(variant) + ": " + std::to_string(static_cast<int>(100 * share)) +
                  " %");
  };
  const auto start = Clock::now();
  const cpu::Execution done =
      pass == Pass::kForward
          ? cpu::attention_forward(variant, tensors.forward(), request.problem.options(), execution)
          : cpu::attention_backward(variant, tensors.backward(), request.problem.options(),
                                    execution);
  const std::chrono::duration<double> taken = Clock::now() - start;
  return {taken.count(), done.workspace_bytes, done.num_threads, {}};
}

}  // namespace

RunVariant run_on_cpu(const AttentionRequest& request) {
  return [&request](std::string_view variant, AttentionTensors& tensors) {
    return on_cpu_or_failure([&] { return run_variant(request, variant, tensors); });
  };
}

void prepare_run(const RunVariant& run, const VariantInfo& variant, std::uint64_t seed,
                 AttentionTensors& tensors) {
  tensors.draw_inputs(seed);
  if (variant.pass == Pass::kBackward) run(kForwardForBackward, tensors);
}

double product_rate(const AttentionRequest& request) {
  return on_cpu_or_failure(
      [&] { return cpu::product_flops_per_s(kProductSize, execution_options(request)); });
}

}  // namespace flashlab::cli
