#include "cli/gpu/run_program.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "attention_cuda/samples.hpp"
#include "cli/gpu/counted_launches.hpp"
#include "cli/gpu/prediction.hpp"
#include "cli/terminal/failure.hpp"
#include "compare/report/explain.hpp"
#include "generate/run/nvrtc.hpp"
#include "gpu/sheets/gpu_specs.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"
#include "toymachine/execute/dram.hpp"

namespace flashlab::cli {
namespace {

/// Converts exceptions: what is missing here is a wrong request, memory and time are limits, and the
/// rest is an error of the program.
template <class Work>
auto generated_or_failure(const Work& work) {
  const auto message = [](const std::exception& error) {
    return std::string("flashlab: error: ") + error.what() + "\n";
  };
  try {
    return work();
  } catch (const generate::GpuUnavailable& error) {
    throw request_failure(error.what(), "a GPU; --predict-only, --plan and --emit need none");
  } catch (const generate::GpuMemoryError& error) {
    throw Failure(kExitLimit, message(error));
  } catch (const generate::GpuTimeLimit& error) {
    throw Failure(kExitLimit, message(error) + "expected less, or a longer --time-limit\n");
  } catch (const std::runtime_error& error) {  // CompileError, GpuError
    throw Failure(kExitProgramWrong, message(error));
  }
}

void require_few_problems(const GpuRunRequest& request) {
  std::int64_t problems = 0;
  if (__builtin_mul_overflow(request.batch, request.heads, &problems) ||
      problems > generate::kMostProblems) {
    throw request_failure("--batch " + std::to_string(request.batch) + " times --heads " +
                              std::to_string(request.heads),
                          "at most " + std::to_string(generate::kMostProblems) +
                              ", which a grid's second axis takes");
  }
}

/// Beyond these, the machine's own run or the compilation would take minutes.
constexpr long kMostSteps = 100'000'000;
constexpr std::size_t kMostInstructions = 2000;

/// Refuses what the machine would refuse to run, and what would take too long, before anything else is
/// done.
void require_runnable(const PlannedProgram& program) {
  if (auto error = toy::array_bytes_error(program.bound)) {
    throw program_failure({*error}, *program.bound.program->source);
  }
  if (program.bound.instructions.size() > kMostInstructions) {
    throw Failure(kExitLimit, "flashlab: error: the program's text has " +
                                  std::to_string(program.bound.instructions.size()) +
                                  " instructions: expected at most " +
                                  std::to_string(kMostInstructions) +
                                  " for a GPU, because each becomes code that is compiled\n");
  }
  toy::Count steps = 0;
  for (const toy::Count& times : program.executions.times) steps += times;
  const long most = std::min(kMostSteps, static_cast<long>(program.bound.limits.max_steps));
  if (steps <= most) return;
  throw Failure(kExitLimit, "flashlab: error: the program takes " + steps.get_str() +
                                " steps: expected at most " + std::to_string(most) +
                                (most < kMostSteps ? " (--max-steps)" : " for a GPU") +
                                ", because the machine runs it, too\n");
}

std::string version_of(int compute_capability) {
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

/// The compute capability whose PTX is asked for; 0: machine code for the GPU itself.
int ptx_capability(const std::string& architecture, const generate::Plan& plan,
                   const generate::GpuInfo& gpu) {
  if (architecture.empty()) return 0;
  constexpr std::string_view kPrefix = "compute_";
  constexpr int kOldest = 75;
  int capability = 0;
  if (!architecture.starts_with(kPrefix) ||
      !read_whole(std::string_view(architecture).substr(kPrefix.size()), capability) ||
      capability < kOldest || capability > gpu.compute_capability) {
    throw request_failure("--arch " + in_quotes(architecture),
                          "compute_75 to compute_" + std::to_string(gpu.compute_capability) +
                              ", which " + printable(gpu.name) + " can run");
  }
  if (plan.has_warpgroups) {
    throw request_failure("--level 2 with --arch " + architecture,
                          "neither PTX nor another GPU: wgmma is machine code of 9.0 alone");
  }
  return capability;
}

/// Tensor cores multiply fp16 from compute capability 7.5 on, and bf16 from 8.0 on. Warpgroups multiply
/// on 9.0 alone.
void require_tensor_cores(const generate::Plan& plan, const generate::GpuInfo& gpu,
                          int compute_capability) {
  if (!plan.factors) return;
  constexpr int kHopper = 90;
  if (plan.has_warpgroups && compute_capability != kHopper) {
    throw request_failure("--level 2 on " + printable(gpu.name) + ", of compute capability " +
                              version_of(compute_capability),
                          "--level 1, or a GPU of compute capability 9.0, such as an H100");
  }
  const int least = *plan.factors == toy::ElementType::kBf16 ? 80 : 75;
  if (compute_capability >= least) return;
  throw request_failure("--level 1 in " + generate::to_string(*plan.factors) + " on " +
                            printable(gpu.name) + ", compiled for compute capability " +
                            version_of(compute_capability),
                        least == 80 ? "--dtype fp16, or a GPU of compute capability 8.0 or later"
                                    : "a GPU of compute capability 7.5 or later");
}

std::int64_t input_bytes(const PlannedProgram& program) {
  std::int64_t bytes = 0;
  for (const toy::BoundArray& array : program.bound.arrays) {
    if (array.role == toy::ArrayRole::kInput) {
      bytes += array.size * toy::element_bytes(array.element_type);
    }
  }
  return bytes;
}

GpuRunReport counted_report(PlannedProgram program, const GpuRunRequest& request,
                            const std::optional<gpu::GpuSpec>& spec) {
  GpuRunReport report;
  report.program = std::move(program);
  report.batch = request.batch;
  report.heads = request.heads;
  if (spec) report.machine = machine_of(*spec);
  report.row = predicted_row(report.program, report.problems(),
                             report.machine.value_or(compare::MachineModel{}));
  report.row.tensor_bytes = input_bytes(report.program) * report.problems();
  return report;
}

compare::Measurement measurement_of(const std::vector<double>& ms) {
  const cuda::Samples samples{ms};
  compare::Measurement measured;
  measured.median_ms = samples.median();
  measured.least_ms = samples.least();
  measured.most_ms = samples.most();
  measured.num_samples = static_cast<int>(ms.size());
  return measured;
}

void require_floor(const GpuRunReport& report, const gpu::GpuSpec& spec) {
  const double least =
      least_ms(report.row, compare::machine_model(spec), report.program.plan.level() > 0);
  if (*report.row.measured->least_ms >= least) return;
  throw Failure(kExitProgramWrong, "flashlab: error: the kernels took " +
                                       std::to_string(*report.row.measured->least_ms) +
                                       " ms, and " + spec.name + " cannot do it in less than " +
                                       std::to_string(least) + " ms: the measurement is wrong\n");
}

void set_ranges(const std::vector<InputRange>& ranges, generate::GpuJob& job) {
  for (const InputRange& range : ranges) {
    const auto array = std::find_if(job.arrays.begin(), job.arrays.end(), [&](const auto& one) {
      return one.name == range.array && one.role == toy::ArrayRole::kInput;
    });
    if (array == job.arrays.end()) {
      throw request_failure("--range " + in_quotes(range.array) + ": there is no such input",
                            "the name of an .input array");
    }
    array->low = range.low;
    array->high = range.high;
  }
}

}  // namespace

InputRange parse_input_range(const std::string& text) {
  constexpr double kMost = 1e30;
  InputRange range;
  const std::size_t equals = text.find('='), dots = text.find("..", equals);
  const bool is_split = equals != std::string::npos && dots != std::string::npos;
  if (is_split) range.array = text.substr(0, equals);
  if (is_split && !range.array.empty() &&
      read_whole(std::string_view(text).substr(equals + 1, dots - equals - 1), range.low) &&
      read_whole(std::string_view(text).substr(dots + 2), range.high) && range.low < range.high &&
      range.low >= -kMost && range.high <= kMost) {
    return range;
  }
  throw request_failure("--range " + in_quotes(text), "ARRAY=LOW..HIGH, such as l=1..8");
}

GpuRunReport predicted_run(PlannedProgram program, const GpuRunRequest& request,
                           const std::string& gpu) {
  require_few_problems(request);
  const auto spec = gpu::find_gpu(gpu);
  if (!spec) {
    throw request_failure("the GPU '" + printable(gpu) + "' is not in gpu/sheets/gpus.json",
                          "--gpu with a GPU of that file, or a new row in it");
  }
  if (!request.ranges.empty()) {  // nothing is drawn, but a wrong name is wrong here, too
    generate::GpuJob job = generate::job_of(program.bound, program.plan, program.name);
    set_ranges(request.ranges, job);
  }
  GpuRunReport report = counted_report(std::move(program), request, spec);
  report.row.sentence = compare::explain(report.row, spec->num_sms);
  return report;
}

GpuRunReport run_on_gpu(PlannedProgram program, const GpuRunRequest& request) {
  require_few_problems(request);
  require_runnable(program);
  const generate::GpuInfo gpu =
      generated_or_failure([&] { return generate::gpu_in_process(request.time_limit); });
  const int ptx = ptx_capability(request.architecture, program.plan, gpu);
  require_tensor_cores(program.plan, gpu, ptx != 0 ? ptx : gpu.compute_capability);
  const auto spec = gpu::find_gpu(gpu.name);
  GpuRunReport report = counted_report(std::move(program), request, spec);
  report.gpu = gpu;
  generate::GpuJob job =
      generate::job_of(report.program.bound, report.program.plan, report.program.name);
  job.problems = report.problems();
  job.seed = request.seed;
  job.repeat = request.repeat;
  job.ptx_capability = ptx;
  set_ranges(request.ranges, job);
  const std::vector<std::int64_t> problems = checked_problems(job.problems, request.num_checked);
  const generate::CountLaunches count =
      request.counters ? generate::CountLaunches(count_launches_here) : nullptr;
  const generate::MeasuredJob measured = generated_or_failure(
      [&] { return generate::measure_in_process(job, problems, request.time_limit, count); });
  report.times = measured.times;
  report.row.measured = measurement_of(measured.times.call_ms);
  for (std::size_t i = 0; i < report.row.steps.size(); ++i) {
    report.row.steps[i].measured = measurement_of(measured.times.launch_ms[i]);
  }
  if (request.counters) {
    take_counted_text(measured.times.counted, report.row);
  } else {
    report.row.measured->why_no_counters = "not requested (--no-counters)";
  }
  report.checked = checked_results(report.program, job, problems, measured, request.expected);
  if (spec) {
    require_floor(report, *spec);
    report.row.sentence = compare::explain(report.row, spec->num_sms);
  }
  return report;
}

}  // namespace flashlab::cli
