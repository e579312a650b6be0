#include "cli/machine/sweep_points.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/machine/counter_report.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/plot.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/count/count_json.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::cli {

std::vector<Metric> all_metrics() {
  std::vector<Metric> metrics;
  for (const toy::CounterDescription& description : toy::counter_descriptions()) {
    metrics.push_back({description.key, [member = description.value](const Point& point) {
                         return point.counters.*member;
                       }});
  }
  metrics.push_back({"peak_registers", [](const Point& point) {
                       return toy::Count(toy::peak_registers(*point.bound));
                     }});
  metrics.push_back({"peak_register_bytes", [](const Point& point) {
                       const auto peak = toy::peak_register_bytes(*point.bound);
                       return toy::Count(peak ? peak->bytes : 0);
                     }});
  metrics.push_back({"peak_dram_bytes", [](const Point& point) {
                       return toy::peak_dram_bytes(*point.bound, point.executions);
                     }});
  for (std::size_t row = 0; row < toy::instruction_set().size(); ++row) {
    metrics.push_back({std::string(toy::instruction_set()[row].mnemonic),
                       [row](const Point& point) { return point.counters.by_instruction[row]; }});
  }
  return metrics;
}

/// "o.stores", "q.elements_loaded".
std::optional<Metric> array_metric(const std::string& key) {
  using T = toy::ArrayTraffic;
  static const std::map<std::string, toy::Count T::*> kCounters{
      {"loads", &T::loads},
      {"stores", &T::stores},
      {"updates", &T::updates},
      {"elements_loaded", &T::elements_loaded},
      {"elements_stored", &T::elements_stored},
      {"elements_updated", &T::elements_updated},
      {"bytes_loaded", &T::bytes_loaded},
      {"bytes_stored", &T::bytes_stored},
      {"bytes_updated", &T::bytes_updated}};
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const auto counter = kCounters.find(key.substr(dot + 1));
  if (counter == kCounters.end()) return std::nullopt;
  return Metric{key, [array = key.substr(0, dot), member = counter->second](const Point& point) {
                  const auto& arrays = point.bound->arrays;
                  for (std::size_t i = 0; i < arrays.size(); ++i) {
                    if (arrays[i].name == array) return point.counters.by_array[i].*member;
                  }
                  throw request_failure("--y: the program has no array '" + printable(array) + "'");
                }};
}

Metric metric(const std::string& key) {
  if (auto of_array = array_metric(key)) return *of_array;
  std::vector<std::string> keys;
  const std::optional<std::size_t> row = toy::find_instruction(key);  // in either letter case
  const std::string wanted = row ? std::string(toy::instruction_set()[*row].mnemonic) : key;
  for (Metric& candidate : all_metrics()) {
    if (candidate.key == wanted) return candidate;
    keys.push_back(candidate.key);
  }
  throw request_failure("--y has no counter '" + printable(key) + "'",
                        "one of " + joined(keys) + ", or an array's: o.stores, q.bytes_loaded",
                        nearest(key, keys).value_or(""));
}

/// Binds with the largest value of the fitted parameter. Memory grows with it, so
/// bisection finds it.
toy::Result<toy::Machines> fit(const Sweep& sweep, toy::CapacityBinding binding) {
  constexpr std::int64_t kLargest = 1 << 20;
  std::int64_t fits = 0, too_large = 1;
  std::optional<toy::Machines> best;
  const auto works = [&](std::int64_t value, toy::Result<toy::Machines>& bound) {
    binding.params[sweep.fitted] = value;
    bound = toy::bind_machines(sweep.loaded.program, binding);
    if (bound) best = std::move(*bound);
    return best && best->first().params[sweep.fitted_index] == value;
  };
  toy::Result<toy::Machines> bound = std::vector<toy::Diagnostic>{};
  while (too_large <= kLargest && works(too_large, bound)) {
    fits = too_large;
    too_large *= 2;
  }
  if (fits == 0) return bound;  // report what is wrong with 1
  if (too_large > kLargest) {
    return toy::request_error("every '" + sweep.fitted + "' fits", "a smaller --sram");
  }
  while (too_large - fits > 1) {
    const std::int64_t middle = fits + (too_large - fits) / 2;
    (works(middle, bound) ? fits : too_large) = middle;
  }
  binding.params[sweep.fitted] = fits;
  return toy::bind_machines(sweep.loaded.program, binding);
}

Point measure(const Sweep& sweep, const toy::CostTable& costs, std::int64_t x) {
  Point point;
  point.x = x;
  toy::CapacityBinding binding = sweep.fixed;
  if (sweep.range.name == "registers") {
    binding.registers = x;
  } else {
    binding.params[sweep.range.name] = x;
  }
  toy::Result<toy::Machines> machines = sweep.fitted.empty()
                                            ? toy::bind_machines(sweep.loaded.program, binding)
                                            : fit(sweep, binding);
  point.problems = machines.diagnostics;
  if (!machines) return point;
  toy::BoundProgram& bound = machines->programs.front();
  toy::Result<toy::Executions> executions = toy::count_machines(*machines);
  point.problems = executions.diagnostics;
  if (!executions) return point;
  point.executions = std::move(*executions);
  point.counters = toy::count(bound, point.executions, costs);
  point.bound = std::move(bound);
  return point;
}

std::string sweep_problems(const Sweep& sweep) {
  std::vector<std::pair<std::string, std::string>> messages;  // message, affected values
  for (const Point& point : sweep.points) {
    if (point.bound || point.problems.empty()) continue;
    const std::string& what = point.problems.front().what;
    const std::string value = std::to_string(point.x);
    const auto same = [&](const auto& entry) { return entry.first == what; };
    const auto known = std::find_if(messages.begin(), messages.end(), same);
    if (known == messages.end()) {
      messages.emplace_back(what, value);
    } else {
      known->second += ", " + value;
    }
  }
  std::string text;
  for (const auto& [what, values] : messages) {
    text += "flashlab: no counts for " + sweep.range.name + " = " + values + ": " + what + "\n";
  }
  return text;
}

Json sweep_json(const Sweep& sweep) {
  Json points = Json::array();
  for (const Point& point : sweep.points) {
    Json one{{sweep.range.name, point.x}};
    if (point.bound) {
      one["params"] = params_json(*point.bound);
      one.update(counters_json(*point.bound, point.counters));
      one["peak_registers"] = toy::peak_registers(*point.bound);
      one["peak_dram_bytes"] =
          toy::count_json(toy::peak_dram_bytes(*point.bound, point.executions));
    } else {
      one["error"] = point.problems.empty() ? "" : point.problems.front().what;
    }
    points.push_back(std::move(one));
  }
  return {{"program", sweep.loaded.short_name()},
          {"parameter", sweep.range.name},
          {"points", std::move(points)}};
}

std::string sweep_csv(const Sweep& sweep) {
  const std::vector<Metric> metrics = all_metrics();
  std::string text = sweep.range.name;
  for (const Metric& one : metrics) text += "," + one.key;
  text += "\n";
  for (const Point& point : sweep.points) {
    if (!point.bound) continue;
    text += std::to_string(point.x);
    for (const Metric& one : metrics) text += "," + one.value(point).get_str();
    text += "\n";
  }
  return text;
}

std::string sweep_table(const Sweep& sweep, const std::vector<Metric>& plotted,
                        const Terminal& terminal) {
  std::vector<Metric> metrics;
  for (const char* key : {"loads", "stores", "compute", "cycles"}) metrics.push_back(metric(key));
  for (const Metric& one : plotted) {
    const auto same = [&](const Metric& other) { return other.key == one.key; };
    if (std::none_of(metrics.begin(), metrics.end(), same)) metrics.push_back(one);
  }
  std::vector<Column> columns{{sweep.range.name, Align::kRight}};
  if (!sweep.fitted.empty()) columns.push_back({sweep.fitted, Align::kRight});
  for (const Metric& one : metrics) columns.push_back({spoken(one.key), Align::kRight});
  TextTable table(std::move(columns));
  for (const Point& point : sweep.points) {
    std::vector<std::string> cells{std::to_string(point.x)};
    if (!sweep.fitted.empty()) {
      cells.push_back(point.bound ? std::to_string(point.bound->params[sweep.fitted_index]) : "?");
    }
    for (const Metric& one : metrics) {
      cells.push_back(point.bound ? grouped(one.value(point).get_str()) : "?");
    }
    table.row(std::move(cells));
  }
  return table.to_string(terminal);
}

std::string sweep_plot(const Sweep& sweep, const std::vector<Metric>& plotted,
                       const std::string& log, const Terminal& terminal) {
  std::vector<Series> series;
  for (const Metric& one : plotted) {
    Series curve{spoken(one.key), {}};
    for (const Point& point : sweep.points) {
      if (!point.bound) continue;
      curve.points.emplace_back(static_cast<double>(point.x), one.value(point).get_d());
    }
    std::sort(curve.points.begin(), curve.points.end());
    series.push_back(std::move(curve));
  }
  std::vector<double> values(sweep.range.values.begin(), sweep.range.values.end());
  PlotOptions plot_options;
  plot_options.x_label = sweep.range.name;
  plot_options.log_x = log == "x" || log == "xy" || (log == "auto" && looks_geometric(values));
  plot_options.log_y = log == "y" || log == "xy" || (log == "auto" && looks_geometric(values));
  return plot(series, plot_options, terminal);
}

}  // namespace flashlab::cli
