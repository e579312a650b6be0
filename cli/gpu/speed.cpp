#include "cli/gpu/speed.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/gpu/prediction.hpp"
#include "cli/gpu/run_program.hpp"
#include "cli/terminal/failure.hpp"
#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/points.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/cost_score.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "generate/plan/fragment_plan.hpp"
#include "gpu/sheets/gpu_specs.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::cli {
namespace {

using exercises::CostLine;
using exercises::Exercise;
using exercises::Outcome;
using exercises::Speed;
using exercises::Verdict;

constexpr const char* kTimeCheck = "time";
constexpr double kNanosecondsOfMillisecond = 1e6;
/// Measured times of the same kernels differ by this much from call to call.
constexpr double kMeasuredSlack = 1.02;
/// No points from this multiple of the given program's time on.
constexpr long kNoPoints = 2;

toy::ElementType type_of(const Speed& speed) {
  if (speed.dtype == "bf16") return toy::ElementType::kBf16;
  return speed.dtype == "fp16" ? toy::ElementType::kFp16 : toy::ElementType::kFloat;
}

/// Throws Failure if the program does not become kernels at the exercise's size.
PlannedProgram planned(const Exercise& exercise, const std::shared_ptr<const toy::Program>& program,
                       const std::string& name) {
  const Speed& speed = *exercise.program.speed;
  auto bound = exercises::bind_submission(exercise.program, program, speed.size);
  toy::BoundProgram fits = value_or_fail(std::move(bound), *program->source);
  const toy::Limits usual;
  fits.limits.max_steps = usual.max_steps;
  fits.limits.max_array_bytes = usual.max_array_bytes;
  return planned_program(std::move(fits), name, {type_of(speed), speed.level, speed.shared_bytes});
}

/// Why the time that the model predicts for these kernels would not be theirs; empty: it would. The
/// model knows neither what the compiler keeps in memory when tiles do not fit the registers nor how slow
/// a launch is that stays off the tensor cores (docs/results/spilled_tiles.json).
std::string why_not_predicted(const PlannedProgram& program) {
  if (program.plan.level() == 0) return "";
  for (const generate::Launch& launch : program.plan.launches) {
    const generate::FragmentPlan* const fragments = launch.fragments.get();
    if (fragments == nullptr && launch.no_fragments) {
      return "a launch stays off the tensor cores: " + launch.no_fragments->text;
    }
    if (fragments != nullptr && fragments->numbers > generate::kMostNumbers) {
      return "its tiles take " + std::to_string(fragments->numbers) +
             " registers of each thread, and from " + std::to_string(generate::kMostNumbers) +
             " on the compiler keeps some in memory";
    }
  }
  return "";
}

double predicted_time_ms(const Exercise& exercise,
                         const std::shared_ptr<const toy::Program>& program) {
  const Speed& speed = *exercise.program.speed;
  const auto gpu = gpu::find_gpu(speed.gpu);
  if (!gpu) throw request_failure("[speed] gpu = '" + printable(speed.gpu) + "'", gpu_keys());
  const compare::Row row = predicted_row(planned(exercise, program, "submission"),
                                         speed.batch * speed.heads, machine_of(*gpu));
  return compare::predicted_ms(row.predicted);
}

toy::Count nanoseconds(double ms) { return toy::Count(std::ceil(ms * kNanosecondsOfMillisecond)); }

exercises::Check check_of(const Speed& speed, const std::string& message) {
  return {kTimeCheck, false, 0, speed.points, message};
}

/// The lines of a failure's message, without the command's name.
exercises::Finding finding_of(const std::string& what, const Failure& failure) {
  exercises::Finding finding;
  finding.what = what;
  std::istringstream lines(failure.what());
  for (std::string line; std::getline(lines, line);) finding.details.push_back(printable(line));
  return finding;
}

/// Takes all points: a right program that is no kernel, or not a right one.
void refuse(const Speed& speed, Outcome outcome, exercises::Finding finding, Verdict& verdict) {
  verdict.outcome = outcome;
  verdict.points = 0;
  verdict.costs.clear();
  for (exercises::Check& check : verdict.checks) check.points = 0;
  verdict.checks.push_back(check_of(speed, finding.what));
  verdict.findings.insert(verdict.findings.begin(), std::move(finding));
}

double points_of_rows(const Verdict& verdict) {
  double points = 0;
  for (const exercises::Check& check : verdict.checks) {
    points = exercises::added_points(points, check.points);
  }
  return points;
}

void add_time(const Exercise& exercise, CostLine line, Verdict& verdict) {
  const Speed& speed = *exercise.program.speed;
  line.share = exercises::cost_share(line);
  exercises::Check check = check_of(speed, "");
  check.passed = line.share >= 1;
  check.points = exercises::rounded_points(speed.points * line.share, speed.points, check.passed);
  if (!check.passed) {
    check.message = "it takes " + fixed_text(line.value.get_d() / line.full.get_d(), 2) +
                    " times as long as full marks allow";
    if (verdict.outcome == Outcome::kFull) verdict.outcome = Outcome::kCostly;
  }
  verdict.checks.push_back(std::move(check));
  verdict.points = exercises::rounded_points(points_of_rows(verdict), verdict.max_points,
                                             verdict.outcome == Outcome::kFull);
  if (verdict.costs.empty()) verdict.size = speed.size;
  verdict.costs.push_back(std::move(line));
}

/// Gives no points for a time that nobody knows without a GPU.
void leave_out_time(const Speed& speed, const std::string& why, Verdict& verdict) {
  exercises::Finding finding;
  finding.what = "the results are right, and no time is predicted: " + printable(why);
  finding.is_about_cost = true;
  verdict.checks.push_back(check_of(speed, finding.what));
  verdict.findings.push_back(std::move(finding));
  if (verdict.outcome == Outcome::kFull) verdict.outcome = Outcome::kCostly;
}

/// Undoes add_time() and leave_out_time().
void remove_time(Verdict& verdict) {
  if (verdict.checks.empty() || verdict.checks.back().name != kTimeCheck) return;
  const std::string message = verdict.checks.back().message;
  verdict.checks.pop_back();
  verdict.points = points_of_rows(verdict);
  if (!verdict.costs.empty() && verdict.costs.back().key == kPredictedTime) {
    verdict.costs.pop_back();
  }
  std::erase_if(verdict.findings,
                [&](const exercises::Finding& finding) { return finding.what == message; });
  const bool is_full = std::all_of(verdict.costs.begin(), verdict.costs.end(),
                                   [](const CostLine& line) { return line.share >= 1; });
  if (verdict.outcome == Outcome::kCostly && is_full) verdict.outcome = Outcome::kFull;
}

std::shared_ptr<const toy::Program> assembled(const Exercise& exercise, const std::string& text) {
  exercises::Refusal refusal;
  auto program = exercises::read_submission(exercise.program,
                                            toy::SourceText(exercise.work_file(), text), refusal);
  if (program == nullptr) throw request_failure("a right program that does not assemble");
  return program;
}

std::map<std::string, std::vector<double>> numbers_by_name(const exercises::NamedArrays& arrays) {
  std::map<std::string, std::vector<double>> values;
  for (const auto& [name, array] : arrays) values[name] = array.values;
  return values;
}

/// What the exercise's reference computes, and how far the given program in float is from it. Nothing
/// of it depends on the submission.
ExpectedResults reference_of(const Exercise& exercise) {
  return [&exercise](const std::map<std::string, std::vector<double>>& inputs) {
    const exercises::ProgramTask& task = exercise.program;
    const toy::BoundProgram given =
        value_or_fail(exercises::bind_submission(task, task.speed->given, task.speed->size),
                      *task.speed->given->source);
    exercises::Case entry;
    for (const toy::BoundArray& array : given.arrays) {
      if (array.role != toy::ArrayRole::kInput) continue;
      entry.inputs[array.name] = {array.extents, inputs.at(array.name)};
    }
    ExpectedArrays expected;
    expected.in_double =
        numbers_by_name(exercises::reference_results(task, task.speed->size, entry.inputs));
    const std::vector<double> before =
        value_or_fail(exercises::dram_for(given, entry), *task.speed->given->source);
    std::vector<float> dram(before.begin(), before.end());
    (void)value_or_fail(toy::run(given, std::span<float>(dram)), *task.speed->given->source);
    for (const toy::BoundArray& array : given.arrays) {
      if (array.role != toy::ArrayRole::kOutput) continue;
      const auto first = dram.begin() + array.offset;
      expected.in_float[array.name] = {first, first + array.size};
    }
    return expected;
  };
}

GpuRunReport run_of(const Exercise& exercise, const std::shared_ptr<const toy::Program>& program,
                    const SpeedRequest& request) {
  const Speed& speed = *exercise.program.speed;
  GpuRunRequest run;
  run.batch = speed.batch;
  run.heads = speed.heads;
  run.repeat = request.repeat;
  run.seed = request.seed;
  run.counters = false;
  run.time_limit = request.time_limit;
  run.expected = reference_of(exercise);
  return run_on_gpu(planned(exercise, program, "submission"), run);
}

double median_ms(const GpuRunReport& report) { return *report.row.measured->median_ms; }

}  // namespace

toy::Count predicted_time(const Exercise& exercise,
                          const std::shared_ptr<const toy::Program>& program) {
  return nanoseconds(predicted_time_ms(exercise, program));
}

void add_predicted_time(const Exercise& exercise, const std::string& text, Verdict& verdict) {
  if (!exercise.program.speed) return;
  const Speed& speed = *exercise.program.speed;
  verdict.max_points = exercise.max_points();
  if (!verdict.passed()) {
    verdict.checks.push_back(check_of(speed, exercises::kNotRun));
    return;
  }
  const double given = predicted_time_ms(exercise, speed.given);
  const double solution = predicted_time_ms(exercise, exercise.program.solution);
  try {
    const auto program = assembled(exercise, text);
    const std::string why = why_not_predicted(planned(exercise, program, "submission"));
    if (!why.empty()) return leave_out_time(speed, why, verdict);
    const double mine = predicted_time_ms(exercise, program);
    const toy::Count full = nanoseconds(given);
    add_time(exercise,
             {kPredictedTime, nanoseconds(mine), full, nanoseconds(solution), kNoPoints * full},
             verdict);
  } catch (const Failure& failure) {
    refuse(speed, Outcome::kRejected,
           finding_of(
               "the results are right, but it is no kernel at " + exercises::to_string(speed.size),
               failure),
           verdict);
  }
}

SpeedMeter::SpeedMeter(const Exercise& exercise, const SpeedRequest& request)
    : exercise_(exercise), request_(request) {
  const GpuRunReport given = run_of(exercise, exercise.program.speed->given, request);
  gpu_ = given.gpu->name;
  given_ms_ = median_ms(given);
  solution_ms_ = median_ms(run_of(exercise, exercise.program.solution, request));
}

void SpeedMeter::measure(const std::string& text, Verdict& verdict) const {
  if (!verdict.passed()) return;
  remove_time(verdict);
  try {
    const double mine = median_ms(run_of(exercise_, assembled(exercise_, text), request_));
    const toy::Count given = nanoseconds(given_ms_);
    add_time(exercise_,
             {kMeasuredTime, nanoseconds(mine), nanoseconds(kMeasuredSlack * given_ms_),
              nanoseconds(solution_ms_), kNoPoints * given},
             verdict);
  } catch (const Failure& failure) {
    const bool is_limit = failure.code() == kExitLimit;
    refuse(*exercise_.program.speed, is_limit ? Outcome::kLimit : Outcome::kWrong,
           finding_of(is_limit ? "on the GPU, it exceeds a limit" : "on the GPU, it goes wrong",
                      failure),
           verdict);
  }
}

}  // namespace flashlab::cli
