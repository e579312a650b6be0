// The results of a GPU beside the machine's own run in double on the same inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/gpu/planned_program.hpp"
#include "generate/run/gpu_process.hpp"
#include "generate/run/job.hpp"

namespace flashlab::cli {

/// One output of one problem. Errors are absolute.
struct CheckedOutput {
  std::string array;
  std::int64_t problem = 0;
  double largest_value = 0;
  double largest_error = 0;
  double float_error = 0;  // of a run of the machine in float
  double allowed_error = 0;
};

/// What one problem should give: arrays by name, with the elements that the program's outputs have.
struct ExpectedArrays {
  std::map<std::string, std::vector<double>> in_double, in_float;
};
/// Returns what a problem should give, from its inputs by name.
using ExpectedResults =
    std::function<ExpectedArrays(const std::map<std::string, std::vector<double>>& inputs)>;

/// Returns `count` of the problems: the last one, and others at equal distances before it.
std::vector<std::int64_t> checked_problems(std::int64_t problems, std::int64_t count);

/// Compares all outputs with the program's own run on the machine or, if `expected` is not empty, with
/// what it returns. Throws Failure: the machine's run goes wrong, an element differs by more
/// than the allowed error, or an element is missing (NaN) in any problem.
///
/// The allowed error is 16 times that of a run of the machine in float, plus 64 roundings of the
/// array's largest value, plus, for 16-bit outputs, one unit of their last place: the same
/// arithmetic in another order. A 16-bit array that the program stores and loads again, as a running
/// sum, is rounded each time: for each, one rounding of the array's largest value. At level 1, whose products round their factors, 4 of these roundings
/// of the array's largest value come on top. With `expected`, nothing of the allowed error depends on
/// the program, and an element that is NaN is equal to nothing.
std::vector<CheckedOutput> checked_results(const PlannedProgram& program,
                                           const generate::GpuJob& job,
                                           const std::vector<std::int64_t>& problems,
                                           const generate::MeasuredJob& measured,
                                           const ExpectedResults& expected = nullptr);

}  // namespace flashlab::cli
