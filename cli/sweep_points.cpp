#include "cli/sweep_points.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/failure.hpp"
#include "cli/plot.hpp"
#include "cli/report.hpp"
#include "cli/text_table.hpp"

namespace flashlab::cli {

using Json = nlohmann::ordered_json;

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
  metrics.push_back({"peak_dram_bytes", [](const Point& point) {
                       return toy::peak_dram_bytes(*point.bound, point.executions);
                     }});
  for (std::size_t row = 0; row < toy::instruction_set().size(); ++row) {
    metrics.push_back({std::string(toy::instruction_set()[row].mnemonic),
                       [row](const Point& point) { return point.counters.by_instruction[row]; }});
  }
  return metrics;
}

Metric metric(const std::string& key) {
  std::vector<std::string> keys;
  const std::optional<std::size_t> row = toy::find_instruction(key);  // in either letter case
  const std::string wanted = row ? std::string(toy::instruction_set()[*row].mnemonic) : key;
  for (Metric& candidate : all_metrics()) {
    if (candidate.key == wanted) return candidate;
    keys.push_back(candidate.key);
  }
  std::string known;
  for (const std::string& one : keys) known += (known.empty() ? "" : ", ") + one;
  throw request_failure("--y has no counter '" + printable(key) + "'", "one of " + known,
                        toy::nearest(key, keys).value_or(""));
}

Point measure(const Sweep& sweep, const toy::CostTable& costs, std::int64_t x) {
  Point point;
  point.x = x;
  toy::Binding binding = sweep.fixed;
  if (sweep.range.name == "registers") {
    binding.registers = x;
  } else {
    binding.params[sweep.range.name] = x;
  }
  toy::Result<toy::BoundProgram> bound = toy::bind(sweep.loaded.program, binding);
  point.problems = bound.diagnostics;
  if (!bound) return point;
  toy::Result<toy::Executions> executions = toy::count_executions(*bound);
  point.problems = executions.diagnostics;
  if (!executions) return point;
  point.executions = std::move(*executions);
  point.counters = toy::count(*bound, point.executions, costs);
  point.bound = std::move(*bound);
  return point;
}

std::string sweep_problems(const Sweep& sweep) {
  std::vector<std::pair<std::string, std::string>> messages;  // and the values they are about
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
      one["peak_dram_bytes"] = count_json(toy::peak_dram_bytes(*point.bound, point.executions));
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
  for (const Metric& one : metrics) columns.push_back({spoken(one.key), Align::kRight});
  TextTable table(std::move(columns));
  for (const Point& point : sweep.points) {
    std::vector<std::string> cells{std::to_string(point.x)};
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
