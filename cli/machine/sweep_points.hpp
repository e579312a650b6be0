// The counts of one program over a range of one parameter, and how they are shown.
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
  std::string fitted;            // the parameter that is as large as --sram allows; empty: none
  std::size_t fitted_index = 0;  // into Program::params
  std::vector<Point> points;
};

/// A column that can be shown: its key, and how to read it.
struct Metric {
  std::string key;
  std::function<toy::Count(const Point&)> value;
};

/// Counters, peaks, and every mnemonic.
std::vector<Metric> all_metrics();
/// Throws Failure with a near miss.
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
/// What went wrong at some values, each message once; empty when nothing did.
std::string sweep_problems(const Sweep& sweep);

}  // namespace flashlab::cli
