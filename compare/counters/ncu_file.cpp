#include "compare/counters/ncu_file.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "compare/counters/csv_table.hpp"
#include "text/lists.hpp"
#include "text/read_number.hpp"

namespace flashlab::compare {
namespace {

using Fields = std::vector<CsvField>;

[[noreturn]] void fail(int line, int column, const std::string& what) {
  throw NcuFileError("line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
                     what);
}

/// The number in "68,719,872" or "60.11". Nothing for "n/a", "nan" and an empty text, with which
/// Nsight Compute marks a missing value.
std::optional<double> number_of(const CsvField& field, int line) {
  std::string digits = field.text;
  std::erase(digits, ',');
  if (digits.empty() || digits == "n/a" || digits == "N/A") return std::nullopt;
  double value = 0;
  if (!read_whole(digits, value)) {
    fail(line, field.column, "\"" + field.text + "\" is not a number");
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

struct CounterUnit {
  std::string_view name;
  double factor;  // to bytes, nanoseconds, per cent
};
constexpr CounterUnit kByteUnits[] = {
    {"byte", 1}, {"Kbyte", 1e3}, {"Mbyte", 1e6}, {"Gbyte", 1e9}, {"Tbyte", 1e12}};
constexpr CounterUnit kTimeUnits[] = {{"ns", 1},   {"nsecond", 1},   {"us", 1e3}, {"usecond", 1e3},
                                      {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9},  {"second", 1e9}};
constexpr CounterUnit kPercentUnits[] = {{"%", 1}};

std::span<const CounterUnit> units_of(Counter counter) {
  if (counter <= Counter::kSmWritten) return kByteUnits;
  if (counter == Counter::kTime) return kTimeUnits;
  return kPercentUnits;
}

double factor_of(const CsvField& unit, Counter counter, int line) {
  for (const CounterUnit& candidate : units_of(counter)) {
    if (candidate.name == unit.text) return candidate.factor;
  }
  fail(line, unit.column,
       "the unit \"" + unit.text + "\": expected one of " +
           joined(units_of(counter), ", ", &CounterUnit::name));
}

struct Metric {
  Counter counter;
  std::size_t preference;  // 0: the preferred name
};

std::optional<Metric> find_metric(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const CounterMetric& row : counter_metrics()) {
    const auto found = std::find(row.names.begin(), row.names.end(), name);
    if (found == row.names.end()) continue;
    return Metric{row.counter, static_cast<std::size_t>(found - row.names.begin())};
  }
  return std::nullopt;
}

/// One output of Nsight Compute. Its header line defines the columns of the lines below.
class Table {
 public:
  Table(Fields header, int line) : header_(std::move(header)), header_line_(line) {
    for (std::size_t column = 0; column < header_.size(); ++column) {
      columns_.emplace(header_[column].text, column);
    }
    is_long_ = columns_.contains("Metric Name");
    for (const char* needed : {"Kernel Name", "Metric Unit", "Metric Value"}) {
      if ((is_long_ || needed == std::string_view("Kernel Name")) && !columns_.contains(needed)) {
        fail(line, 1, "the header has no column \"" + std::string(needed) + "\"");
      }
    }
  }

  void read(Fields fields, int line) {
    if (fields.size() != header_.size()) {
      fail(line, fields.back().column,
           std::to_string(fields.size()) + " fields: expected " + std::to_string(header_.size()) +
               ", as many as the header in line " + std::to_string(header_line_) + " has");
    }
    if (is_long_) {
      read_metric(fields, line);
    } else if (units_.empty()) {
      units_ = std::move(fields);
      units_line_ = line;
    } else {
      read_launch(fields, line);
    }
  }

  std::vector<CountedLaunch> launches;  // with the kernels' full names

 private:
  static void put(CountedLaunch& launch, const Metric& metric, std::optional<double> value,
                  double factor) {
    auto& place = launch.values[static_cast<std::size_t>(metric.counter)];
    if (value && (metric.preference == 0 || !place)) place = *value * factor;
  }

  void read_launch(const Fields& fields, int line) {
    CountedLaunch launch{fields[columns_.at("Kernel Name")].text, {}};
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const auto metric = find_metric(header_[column].text);
      if (!metric) continue;
      const double factor = factor_of(units_[column], metric->counter, units_line_);
      put(launch, *metric, number_of(fields[column], line), factor);
    }
    launches.push_back(std::move(launch));
  }

  /// The lines of one launch have the same number and process.
  void read_metric(const Fields& fields, int line) {
    std::string launch_key = fields[0].text;
    if (const auto process = columns_.find("Process ID"); process != columns_.end()) {
      launch_key += "/" + fields[process->second].text;
    }
    if (launches.empty() || launch_key != last_launch_) {
      launches.push_back({fields[columns_.at("Kernel Name")].text, {}});
      last_launch_ = launch_key;
    }
    const auto metric = find_metric(fields[columns_.at("Metric Name")].text);
    if (!metric) return;
    const double factor = factor_of(fields[columns_.at("Metric Unit")], metric->counter, line);
    put(launches.back(), *metric, number_of(fields[columns_.at("Metric Value")], line), factor);
  }

  Fields header_, units_;
  int header_line_, units_line_ = 0;
  bool is_long_ = false;
  std::map<std::string, std::size_t> columns_;
  std::string last_launch_;
};

std::vector<Table> tables_of(std::string_view text) {
  std::vector<Table> tables;
  int line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool is_header = line.starts_with("\"ID\",");
    if (!is_header && (tables.empty() || !line.starts_with('"'))) continue;  // program output
    int open_quote = 1;
    std::optional<Fields> fields = csv_fields(line, open_quote);
    if (!fields) fail(line_number, open_quote, "a quote that does not end in its line");
    if (is_header) {
      tables.emplace_back(std::move(*fields), line_number);
    } else {
      tables.back().read(std::move(*fields), line_number);
    }
  }
  if (tables.empty()) {
    const bool is_forbidden = text.find("ERR_NVGPUCTRPERM") != std::string_view::npos;
    fail(line_number, 1,
         is_forbidden ? "no table: the driver let only administrators read performance counters "
                        "(ERR_NVGPUCTRPERM)"
                      : "the file ends without a table: expected a line that begins with \"ID\", "
                        "as ncu --csv prints it");
  }
  return tables;
}

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_';
}

/// "flash1_kernel" in the text of a whole function; empty: no word ends in "_kernel".
std::string_view function_name(std::string_view kernel) {
  constexpr std::string_view kEnd = "_kernel";
  for (std::size_t place = kernel.find(kEnd); place != std::string_view::npos;
       place = kernel.find(kEnd, place + 1)) {
    const std::size_t end = place + kEnd.size();
    if (end < kernel.size() && is_word(kernel[end])) continue;
    std::size_t begin = place;
    while (begin > 0 && is_word(kernel[begin - 1])) --begin;
    return kernel.substr(begin, end - begin);
  }
  return {};
}

}  // namespace

std::string ncu_step_name(std::string_view kernel, std::span<const std::string> steps) {
  const std::string_view function = function_name(kernel);
  if (function.empty()) return std::string(kernel);
  std::string_view longest;
  for (const std::string& step : steps) {
    if (!function.starts_with(step) || step.size() <= longest.size()) continue;
    if (step.size() == function.size() || function[step.size()] == '_') longest = step;
  }
  if (longest.empty()) longest = function.substr(0, function.size() - std::strlen("_kernel"));
  return std::string(longest);
}

std::vector<CountedLaunch> parse_ncu_launches(std::string_view text,
                                              std::span<const std::string> steps) {
  std::vector<CountedLaunch> launches;
  for (Table& table : tables_of(text)) {
    for (CountedLaunch& launch : table.launches) {
      launch.name = ncu_step_name(launch.name, steps);
      launches.push_back(std::move(launch));
    }
  }
  const bool has_values = std::any_of(launches.begin(), launches.end(), [](const auto& launch) {
    return std::any_of(launch.values.begin(), launch.values.end(),
                       [](const auto& value) { return value.has_value(); });
  });
  if (!has_values) {
    throw NcuFileError("no launch has any of the needed metrics: expected those of ncu --metrics " +
                       metric_list());
  }
  return launches;
}

std::vector<CountedRange> parse_ncu_csv(std::string_view text, std::span<const std::string> steps) {
  std::vector<CountedRange> ranges;
  for (const CountedLaunch& launch : parse_ncu_launches(text, steps)) {
    ranges.push_back(together({&launch, 1}).front());
  }
  return ranges;
}

}  // namespace flashlab::compare
