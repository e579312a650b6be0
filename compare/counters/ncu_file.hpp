// Reads hardware counters from a file of Nsight Compute, for systems where only that tool
// may read them:
//
//   ncu --csv --page raw --metrics M …   one line per launch, one column per metric, and units
//   ncu --csv --metrics M …              one line per metric
//
// Output of the profiled program may occur between the lines. A file may contain several outputs.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compare/counters/counter_metrics.hpp"

namespace flashlab::compare {

/// what(): "line 12, column 340: …", what was found and what was expected.
class NcuFileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns every launch in the file's order, under the name of its step (ncu_step_name).
/// Errors  NcuFileError: no table, none of the metrics, a quote that is not closed, a line with too
///         few fields, a value that is not a number, a unit that the metric cannot have
std::vector<CountedLaunch> parse_ncu_launches(std::string_view text,
                                              std::span<const std::string> steps = {});
/// Does the same with one range for each launch. To combine a step's launches, use
/// together(parse_ncu_launches()).
std::vector<CountedRange> parse_ncu_csv(std::string_view text,
                                        std::span<const std::string> steps = {});

/// Returns the step of a kernel: "flash1" for "void flashlab::<unnamed>::flash1_kernel<64>(…)", or
/// the longest of `steps` with which the function's name begins. A library's kernel keeps its name.
std::string ncu_step_name(std::string_view kernel, std::span<const std::string> steps = {});

}  // namespace flashlab::compare
