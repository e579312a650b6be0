#include "cli/compare/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "cli/compare/names.hpp"
#include "cli/compare/pallas_text.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/text_table.hpp"
#include "compare/model/binding_unit.hpp"
#include "compare/model/pallas_formulas.hpp"
#include "compare/rows/sweep.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {
using compare::Step;

std::string ms_text(const std::optional<double>& ms) { return ms ? three_digits(*ms) : ""; }
std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? fixed_text(*ratio, 2) : "";
}
std::string gigabytes(const std::optional<compare::Traffic>& traffic) {
  return traffic ? three_digits(1e-9 * static_cast<double>(traffic->bytes())) : "";
}

/// The columns of the table of times that have values.
struct TimesColumns {
  bool bytes = false, measured_bytes = false, measured_times = false;

  explicit TimesColumns(const std::vector<compare::Row>& rows) {
    for (const compare::Row& row : rows) {
      add(row.work, row.measured);
      for (const Step& step : row.steps) add(step.work, step.measured);
    }
  }
  std::vector<Column> columns() const {
    std::vector<Column> all;
    if (bytes) all.push_back({"GB to SMs counted", Align::kRight});
    if (measured_bytes)
      all.insert(all.end(), {{"measured", Align::kRight}, {"ratio", Align::kRight}});
    all.push_back({"ms predicted", Align::kRight});
    if (measured_times)
      all.insert(all.end(), {{"measured", Align::kRight}, {"ratio", Align::kRight}});
    return all;
  }

 private:
  void add(const compare::Work& work, const std::optional<compare::Measurement>& measured) {
    bytes = bytes || work.sm.has_value();
    measured_bytes = measured_bytes || (measured && measured->sm);
    measured_times = measured_times || (measured && measured->median_ms);
  }
};

/// The cells of a row, or of a step.
template <class Timed>
std::vector<std::string> times_cells(const Timed& timed, const TimesColumns& columns,
                                     bool has_time) {
  std::vector<std::string> cells;
  const auto& measured = timed.measured;
  if (columns.bytes) cells.push_back(gigabytes(timed.work.sm));
  if (columns.measured_bytes) {
    cells.push_back(measured ? gigabytes(measured->sm) : "");
    cells.push_back(ratio_text(sm_ratio(timed)));
  }
  cells.push_back(has_time ? three_digits(compare::predicted_ms(timed.predicted)) : "");
  if (columns.measured_times) {
    cells.push_back(measured ? ms_text(measured->median_ms) : "");
    cells.push_back(ratio_text(time_ratio(timed)));
  }
  return cells;
}

std::string flop_text(double flops) { return with_prefix(flops, "FLOP"); }
std::string si_bytes(double bytes) { return with_prefix(bytes, "B"); }

}  // namespace

std::string note(const std::string& word, const std::string& meaning, const Terminal& terminal) {
  constexpr std::size_t kColumn = 10;
  std::string text = word + std::string(kColumn - word.size(), ' ');
  const std::vector<std::string> lines = wrap(meaning, terminal.width - kColumn);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    text += (k == 0 ? "" : std::string(kColumn, ' ')) + lines[k] + "\n";
  }
  return text;
}

std::string with_prefix(double value, const std::string& unit) {
  constexpr std::array<const char*, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return three_digits(value) + " " + kPrefixes[prefix] + unit;
}

std::string comparison_heading(const compare::Comparison& comparison,
                               const compare::MachineModel& machine, const Terminal& terminal) {
  std::string text = machine.gpu.name;
  if (comparison.calibration) {
    const std::string& date = comparison.calibration->date;
    text += ", rates measured" + (date.empty() ? "" : " " + printable(date.substr(0, 10)));
  } else {
    text += ", rates of the data sheet";
  }
  if (!comparison.gpu_name.empty()) {
    text += "; timed on " + printable(comparison.gpu_name);
    if (!comparison.date.empty()) text += ", " + printable(comparison.date.substr(0, 10));
  } else {
    text += "; nothing measured";
  }
  text += "\n" + shared_by(comparison.rows);
  std::string lines;
  for (const std::string& part : split(text, '\n')) {
    for (const std::string& line : wrap(part, terminal.width)) lines += line + "\n";
  }
  return lines;
}

std::string times_table(const compare::Comparison& comparison, bool steps,
                        const Terminal& terminal) {
  const TimesColumns columns(comparison.rows);
  const RowNames names(comparison.rows);
  TextTable table(names.columns(columns.columns()));
  for (const compare::Row& row : comparison.rows) {
    const bool has_time = !compare::does_not_fit(row);
    table.row(names.cells(row, times_cells(row, columns, has_time)));
    if (!steps) continue;
    for (const Step& step : row.steps) {
      table.row(names.part("  " + printable(step.name), times_cells(step, columns, has_time)));
    }
  }
  return table.to_string(terminal);
}

namespace {

/// "206 FLOPs per byte of DRAM in bf16 (989 TFLOP/s over 4.80 TB/s); ...": where the two roofs meet.
std::string ridge_text(const compare::Comparison& comparison,
                       const compare::MachineModel& machine) {
  std::string text;
  std::set<std::string> shown;
  for (const compare::Row& row : comparison.rows) {
    const std::string type = row.products == "native" ? row.dtype : row.dtype + " " + row.products;
    if (!shown.insert(type).second) continue;
    const double rate = machine.product_rate(row.dtype, row.products).per_s;
    text += three_digits(rate / machine.dram_copy->per_s) +
            (text.empty() ? " FLOPs per byte of DRAM in " : " in ") + printable(type) + " (" +
            flop_text(rate) + "/s over " + si_bytes(machine.dram_copy->per_s) + "/s); ";
  }
  return text + "a kernel with fewer waits for DRAM";
}

}  // namespace

std::string models_table(const compare::Comparison& comparison,
                         const compare::MachineModel& machine, const Terminal& terminal) {
  const bool is_measured = TimesColumns(comparison.rows).measured_times;
  std::vector<Column> columns = {{"roofline ms", Align::kRight},
                                 {"overlap", Align::kRight},
                                 {"units", Align::kRight},
                                 {"Pallas", Align::kRight}};
  if (is_measured) columns.push_back({"measured", Align::kRight});
  columns.push_back({"bound"});
  const RowNames names(comparison.rows);
  TextTable table(names.columns(columns));
  for (const compare::Row& row : comparison.rows) {
    std::vector<std::string> cells = {
        three_digits(row.predicted.roofline_ms), three_digits(row.predicted.overlap_ms),
        three_digits(compare::predicted_ms(row.predicted)), ms_text(row.pallas_ms)};
    if (is_measured) cells.push_back(row.measured ? ms_text(row.measured->median_ms) : "");
    const auto binding = compare::binding_unit(row);
    cells.emplace_back(binding ? unit_name(binding->unit) : "");
    if (compare::does_not_fit(row)) cells.assign(cells.size(), "");
    table.row(names.cells(row, cells));
  }
  return table.to_string(terminal) + "\n" +
         note("roofline",
              "every unit of the GPU works at its rate, all at once; the slowest decides",
              terminal) +
         note("overlap",
              "loads run beside computing; products, elementwise work and exponentials wait for "
              "one another; blocks that do not fill the SMs, and launches, cost extra",
              terminal) +
         note(
             "units",
             "the warps of a multiprocessor share its tensor cores, shared memory, issue slots and "
             "exponentials; one alone would add up its times, many together are bound by the "
             "slowest unit; this is what all other tables predict",
             terminal) +
         note("Pallas",
              "the Pallas post: its FLOPs or its bytes at the data sheet's rates, whichever takes "
              "longer",
              terminal) +
         (machine.dram_copy ? note("ridge", ridge_text(comparison, machine), terminal) : "");
}

namespace {

using ByteColumn = std::pair<Column, std::function<std::string(const compare::Row&)>>;

std::string bytes_text(const std::optional<compare::Traffic>& traffic) {
  return traffic ? si_bytes(static_cast<double>(traffic->bytes())) : "";
}

std::string byte_table(const std::vector<ByteColumn>& columns,
                       const compare::Comparison& comparison, const Terminal& terminal) {
  const RowNames names(comparison.rows);
  std::vector<Column> titles;
  for (const ByteColumn& column : columns) titles.push_back(column.first);
  TextTable table(names.columns(titles));
  for (const compare::Row& row : comparison.rows) {
    std::vector<std::string> cells;
    for (const ByteColumn& column : columns) cells.push_back(column.second(row));
    table.row(names.cells(row, cells));
  }
  return table.to_string(terminal);
}

std::function<std::string(const compare::Row&)> pallas_text(
    std::int64_t compare::PallasBytes::*value) {
  return [value](const compare::Row& row) {
    return row.pallas_bytes ? si_bytes(static_cast<double>(*row.pallas_bytes.*value)) : "";
  };
}

}  // namespace

std::string bytes_table(const compare::Comparison& comparison, const Terminal& terminal) {
  using compare::PallasBytes;
  std::vector<ByteColumn> dram = {
      {{"Pallas formula", Align::kRight}, pallas_text(&PallasBytes::formula)},
      {{"Pallas prose", Align::kRight}, pallas_text(&PallasBytes::prose)},
      {{"each array once", Align::kRight},
       [](const compare::Row& r) { return bytes_text(r.work.dram); }}};
  std::vector<ByteColumn> sm = {
      {{"toy program", Align::kRight}, [](const compare::Row& r) { return bytes_text(r.toy.sm); }},
      {{"the kernel's blocks", Align::kRight},
       [](const compare::Row& r) { return bytes_text(r.work.sm); }}};
  if (TimesColumns(comparison.rows).measured_bytes) {
    const Column measured = {"measured", Align::kRight};
    dram.push_back({measured, [](const compare::Row& r) {
                      return r.measured ? bytes_text(r.measured->dram) : std::string();
                    }});
    sm.push_back({measured, [](const compare::Row& r) {
                    return r.measured ? bytes_text(r.measured->sm) : std::string();
                  }});
  }
  return "DRAM, bytes\n" + byte_table(dram, comparison, terminal) +
         "\nBetween L2 and the SMs, bytes\n" + byte_table(sm, comparison, terminal);
}

std::string flops_table(const compare::Comparison& comparison, const Terminal& terminal) {
  const RowNames names(comparison.rows);
  TextTable table(names.columns({{"Pallas", Align::kRight},
                                 {"usual", Align::kRight},
                                 {"products", Align::kRight},
                                 {"others", Align::kRight},
                                 {"exps", Align::kRight}}));
  for (const compare::Row& row : comparison.rows) {
    table.row(
        names.cells(row, {row.pallas_bytes ? flop_text(static_cast<double>(compare::pallas_flops(
                                                 row.variant, pallas_shape(row))))
                                           : "",
                          flop_text(static_cast<double>(row.usual_flops)),
                          flop_text(static_cast<double>(row.work.product_flops)),
                          flop_text(static_cast<double>(row.work.elementwise_flops)),
                          with_prefix(static_cast<double>(row.work.exps), "")}));
  }
  return table.to_string(terminal);
}

std::string sentences(const compare::Comparison& comparison, const Terminal& terminal) {
  std::string text;
  const RowNames names(comparison.rows);
  for (const compare::Row& row : comparison.rows) {
    const std::string line = names.text(row) + ": " + printable(row.sentence);
    const std::vector<std::string> lines = wrap(line, terminal.width - 2);
    for (std::size_t k = 0; k < lines.size(); ++k) text += (k == 0 ? "" : "  ") + lines[k] + "\n";
  }
  return text;
}

namespace {

std::string too_large_calls(const compare::Comparison& comparison,
                            const compare::MachineModel& machine, const Terminal& terminal) {
  std::string text;
  const RowNames names(comparison.rows);
  for (const compare::Row& row : comparison.rows) {
    const std::int64_t needed = row.tensor_bytes + row.workspace_bytes;
    if (row.measured || machine.gpu.memory_bytes <= 0 || needed <= machine.gpu.memory_bytes)
      continue;
    text += wrapped(names.text(row) + ": the arrays of its program take " +
                        si_bytes(static_cast<double>(needed)) + ", more than the " +
                        si_bytes(static_cast<double>(machine.gpu.memory_bytes)) + " of the " +
                        machine.gpu.name,
                    terminal.width);
  }
  return text;
}

std::string shares(const compare::Comparison& comparison, const Terminal& terminal) {
  std::string text;
  const auto say = [&](const compare::Share& share, const std::string& what) {
    if (share.num_all == 0) return;
    text += wrapped(std::to_string(share.num_close) + " of " + std::to_string(share.num_all) +
                        " (" + fixed_text(100 * share.share(), 0) + " %) " + what,
                    terminal.width);
  };
  say(compare::close_sm_bytes(comparison.rows),
      "bytes to SMs within 5 %: flash1, flash2, bwd-twopass, N >= 4096");
  for (const double tolerance : {compare::kCloseTime, compare::kNearTime}) {
    say(compare::close_times(comparison.rows, tolerance),
        "times within " + fixed_text(100 * tolerance, 0) + " %: all calls, N >= 1024");
  }
  return text;
}

}  // namespace

std::string closing_lines(const compare::Comparison& comparison,
                          const compare::MachineModel& machine, const Terminal& terminal) {
  std::string text = too_large_calls(comparison, machine, terminal) + shares(comparison, terminal);
  if (window_size().columns > 0) {
    text += "\n\"GB to SMs\", \"bound by\" and other words: flashlab read glossary\n";
  }
  return text;
}

}  // namespace flashlab::cli
