// The hardware's counters as Nsight Compute wrote them, for where only it may read them:
//
//   ncu --csv --page raw --metrics M …   one line per launch, a column a metric, a line of units
//   ncu --csv --metrics M …              a line a metric
//
// What the watched program printed may stand between the lines, and several outputs in one file.
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

/// Every launch in the file's order, by the name of its step (ncu_step_name).
/// Errors  NcuFileError: no table, none of the metrics, a quote that does not end, a line with too
///         few fields, a value that is no number, a unit that the metric cannot have
std::vector<CountedLaunch> parse_ncu_launches(std::string_view text,
                                              std::span<const std::string> steps = {});
/// The same, each launch by itself. For a step's launches together: together(parse_ncu_launches()).
std::vector<CountedRange> parse_ncu_csv(std::string_view text,
                                        std::span<const std::string> steps = {});

/// The step that a kernel is: "void flashlab::<unnamed>::flash1_kernel<64>(…)" is "flash1", or of
/// `steps` the longest that the function's name begins with. A library's kernel keeps its name.
std::string ncu_step_name(std::string_view kernel, std::span<const std::string> steps = {});

}  // namespace flashlab::compare
