// The counts of one program over a range of one parameter, and their display.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "toymachine/count/capacity.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {

/// The counts at one value of the parameter, or why there are none.
struct Point {
  std::int64_t x = 0;
  std::optional<toy::BoundProgram> bound;
  toy::Executions executions;
  toy::Counters counters;
  std::vector<toy::Diagnostic> problems;
};

struct Sweep {
  LoadedProgram loaded;
  ParameterRange range;
  toy::CapacityBinding fixed;
  std::string fitted;            // the parameter that --sram limits; empty: none
  std::size_t fitted_index = 0;  // into Program::params
  std::vector<Point> points;
};

/// A column: its key, and how to read its value.
struct Metric {
  std::string key;
  std::function<toy::Count(const Point&)> value;
};

/// Returns counters, peaks, and every mnemonic.
std::vector<Metric> all_metrics();
/// Returns the metric of this name. Throws Failure with a similar name.
Metric metric(const std::string& key);

/// Binds and counts with the swept parameter at `x`.
Point measure(const Sweep& sweep, const toy::CostTable& costs, std::int64_t x);

nlohmann::ordered_json sweep_json(const Sweep& sweep);
std::string sweep_csv(const Sweep& sweep);
std::string sweep_table(const Sweep& sweep, const std::vector<Metric>& plotted,
                        const Terminal& terminal);
/// `log` is one of auto, none, x, y, xy.
std::string sweep_plot(const Sweep& sweep, const std::vector<Metric>& plotted,
                       const std::string& log, const Terminal& terminal);
/// Returns the messages for values that failed, each message once; empty if there are none.
std::string sweep_problems(const Sweep& sweep);

}  // namespace flashlab::cli
