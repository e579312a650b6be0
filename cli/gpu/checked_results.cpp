#include "cli/gpu/checked_results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "cli/terminal/failure.hpp"
#include "generate/run/drawn_inputs.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::cli {
namespace {

constexpr double kFloatErrors = 16, kRoundings = 64, kFactorRoundings = 4;

template <class Number>
std::vector<double> machine_run(const PlannedProgram& program, const std::vector<double>& before) {
  std::vector<Number> dram(before.begin(), before.end());
  (void)value_or_fail(toy::run(program.bound, std::span<Number>(dram)),
                      *program.bound.program->source);
  return {dram.begin(), dram.end()};
}

/// What one problem should give, and gives.
struct ProblemRuns {
  std::int64_t problem = 0;
  std::vector<double> in_double, in_float;  // DRAM of the machine
  const std::vector<std::vector<double>>& gpu;
  bool is_own_run = true;  // of the program: what it never writes is NaN in both
};

double absolute_error(double a, double b, bool is_own_run) {
  if (std::isnan(a) || std::isnan(b)) {
    return is_own_run && std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  }
  return a == b ? 0 : std::abs(a - b);  // infinities are equal to themselves
}

/// How often an element of a 16-bit array is rounded because the program stores it and loads it
/// again, as a running sum in DRAM; the most of all arrays.
double repeated_roundings(const PlannedProgram& program) {
  const toy::Counters counters = toy::count(program.bound, program.executions, {});
  double most = 0;
  for (std::size_t a = 0; a < program.bound.arrays.size(); ++a) {
    const toy::BoundArray& array = program.bound.arrays[a];
    const toy::ArrayTraffic& traffic = counters.by_array[a];
    if (!toy::is_narrow(array.element_type) || traffic.elements_loaded == 0 || array.size == 0) {
      continue;
    }
    most = std::max(most, traffic.elements_stored.get_d() / static_cast<double>(array.size));
  }
  return most;
}

[[noreturn]] void fail_element(const PlannedProgram& program, const ProblemRuns& runs,
                               const toy::BoundArray& array, std::int64_t element, double got,
                               double allowed) {
  const double expected = runs.in_double[static_cast<std::size_t>(array.offset + element)];
  const std::string found =
      std::isnan(got) ? "NaN: not written, or not a number" : short_text(got, 9);
  throw Failure(kExitProgramWrong,
                "flashlab: error: " + printable(program.name) +
                    " on the GPU: " + printable(array.element_name(element)) + " of problem " +
                    std::to_string(runs.problem + 1) + " is " + found + ": expected " +
                    short_text(expected, 9) +
                    (runs.is_own_run ? ", as the machine computes it in double, and at most "
                                     : ", as the reference computes it, and at most ") +
                    short_text(allowed, 3) + " from it\n");
}

CheckedOutput checked_output(const PlannedProgram& program, const ProblemRuns& runs,
                             std::size_t index) {
  const toy::BoundArray& array = program.bound.arrays[index];
  const double real = generate::rounding_unit(program.plan.real);
  const double last_place =
      toy::is_narrow(array.element_type) ? 2 * generate::rounding_unit(array.element_type) : 0;
  CheckedOutput checked{array.name, runs.problem};
  const auto expected = [&](std::int64_t i) {
    return runs.in_double[static_cast<std::size_t>(array.offset + i)];
  };
  for (std::int64_t i = 0; i < array.size; ++i) {
    if (std::isfinite(expected(i))) {
      checked.largest_value = std::max(checked.largest_value, std::abs(expected(i)));
    }
    const double error = absolute_error(
        expected(i), runs.in_float[static_cast<std::size_t>(array.offset + i)], runs.is_own_run);
    if (std::isfinite(error)) checked.float_error = std::max(checked.float_error, error);
  }
  checked.allowed_error = kFloatErrors * checked.float_error * real / 0x1p-24 +
                          kRoundings * real * checked.largest_value;
  if (toy::is_narrow(program.type) && runs.is_own_run) {
    checked.allowed_error +=
        repeated_roundings(program) * generate::rounding_unit(program.type) * checked.largest_value;
  }
  if (program.plan.factors) {
    checked.allowed_error +=
        kFactorRoundings * generate::rounding_unit(*program.plan.factors) * checked.largest_value;
  }
  for (std::int64_t i = 0; i < array.size; ++i) {
    const double got = runs.gpu[index][static_cast<std::size_t>(i)];
    const double error = absolute_error(expected(i), got, runs.is_own_run);
    const double allowed = checked.allowed_error +
                           (std::isfinite(expected(i)) ? last_place * std::abs(expected(i)) : 0);
    if (!(error <= allowed)) fail_element(program, runs, array, i, got, allowed);
    checked.largest_error = std::max(checked.largest_error, error);
  }
  return checked;
}

/// In all problems, as many elements of an output are NaN (never written) as in a checked one.
void check_every_problem(const PlannedProgram& program, const generate::GpuJob& job,
                         const ProblemRuns& runs, const generate::GpuTimes& times) {
  for (std::size_t a = 0; a < program.bound.arrays.size(); ++a) {
    const toy::BoundArray& array = program.bound.arrays[a];
    if (array.role != toy::ArrayRole::kOutput) continue;
    const auto first = runs.in_double.begin() + array.offset;
    const std::int64_t missing =
        std::count_if(first, first + array.size, [](double value) { return std::isnan(value); });
    if (times.nan_elements[a] == missing * job.problems) continue;
    throw Failure(kExitProgramWrong, "flashlab: error: " + printable(program.name) +
                                         " on the GPU: " + std::to_string(times.nan_elements[a]) +
                                         " elements of " + printable(array.name) +
                                         " in all problems are NaN: expected " +
                                         std::to_string(missing * job.problems) + "\n");
  }
}

/// The GPU drew the inputs that the machine has, and did not write to them.
void check_inputs(const PlannedProgram& program, const std::vector<double>& before,
                  const ProblemRuns& runs) {
  for (std::size_t a = 0; a < program.bound.arrays.size(); ++a) {
    const toy::BoundArray& array = program.bound.arrays[a];
    if (array.role != toy::ArrayRole::kInput) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      const double expected = before[static_cast<std::size_t>(array.offset + i)];
      const double got = runs.gpu[a][static_cast<std::size_t>(i)];
      if (got != expected) fail_element(program, runs, array, i, got, 0);
    }
  }
}

/// The DRAM of a run that would give what is expected.
std::vector<double> dram_with(const toy::BoundProgram& bound, const std::vector<double>& before,
                              const std::map<std::string, std::vector<double>>& outputs) {
  std::vector<double> dram = before;
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role != toy::ArrayRole::kOutput) continue;
    std::fill_n(dram.begin() + array.offset, array.size, NAN);
    const auto found = outputs.find(array.name);
    if (found == outputs.end() || std::ssize(found->second) != array.size) continue;
    std::copy(found->second.begin(), found->second.end(), dram.begin() + array.offset);
  }
  return dram;
}

ProblemRuns expected_runs(const PlannedProgram& program, std::int64_t problem,
                          const std::vector<double>& before,
                          const std::vector<std::vector<double>>& gpu,
                          const ExpectedResults& expected) {
  if (!expected) {
    return {problem, machine_run<double>(program, before), machine_run<float>(program, before),
            gpu};
  }
  std::map<std::string, std::vector<double>> inputs;
  for (const toy::BoundArray& array : program.bound.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    const auto first = before.begin() + array.offset;
    inputs[array.name] = {first, first + array.size};
  }
  const ExpectedArrays arrays = expected(inputs);
  return {problem, dram_with(program.bound, before, arrays.in_double),
          dram_with(program.bound, before, arrays.in_float), gpu, false};
}

}  // namespace

std::vector<std::int64_t> checked_problems(std::int64_t problems, std::int64_t count) {
  std::vector<std::int64_t> chosen;
  count = std::min(count, problems);
  for (std::int64_t k = 0; k < count; ++k) chosen.push_back(problems - 1 - k * problems / count);
  return chosen;
}

std::vector<CheckedOutput> checked_results(const PlannedProgram& program,
                                           const generate::GpuJob& job,
                                           const std::vector<std::int64_t>& problems,
                                           const generate::MeasuredJob& measured,
                                           const ExpectedResults& expected) {
  std::vector<CheckedOutput> checked;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const std::vector<double> before = generate::drawn_dram(job, job.repeat, problems[p]);
    const ProblemRuns runs =
        expected_runs(program, problems[p], before, measured.results[p], expected);
    check_inputs(program, before, runs);
    for (std::size_t a = 0; a < program.bound.arrays.size(); ++a) {
      if (program.bound.arrays[a].role != toy::ArrayRole::kOutput) continue;
      checked.push_back(checked_output(program, runs, a));
    }
    check_every_problem(program, job, runs, measured.times);
  }
  return checked;
}

}  // namespace flashlab::cli
