#include "cli/compare/kernels_table.hpp"

#include <optional>

#include "cli/terminal/text_table.hpp"
#include "compare/report/counted_units.hpp"
#include "compare/report/source_times.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

std::string unit_ratio(const std::optional<double>& ratio) {
  return ratio ? fixed_text(*ratio, 2) : "";
}

}  // namespace

std::string kernels_table(const std::vector<compare::Row>& rows, const Terminal& terminal) {
  TextTable table({{"kernel"},
                   {"type"},
                   {"rows", Align::kRight},
                   {"15 %", Align::kRight},
                   {"30 %", Align::kRight},
                   {"time", Align::kRight},
                   {"tensor", Align::kRight},
                   {"shared", Align::kRight},
                   {"issue", Align::kRight},
                   {"exp", Align::kRight}});
  for (const compare::KernelSummary& kernel : compare::kernel_summaries(rows)) {
    table.row({printable(kernel.kernel), printable(kernel.type),
               std::to_string(kernel.close.num_all), std::to_string(kernel.close.num_close),
               std::to_string(kernel.near.num_close),
               fixed_text(kernel.least, 2) + "-" + fixed_text(kernel.most, 2),
               unit_ratio(kernel.units.products), unit_ratio(kernel.units.shared),
               unit_ratio(kernel.units.issue), unit_ratio(kernel.units.exps)});
  }
  if (table.empty()) return "no measured times\n";
  std::string text = table.to_string(terminal) + "\n";
  for (const std::string& line : wrap("time: predicted over measured. Tensor cores, shared memory, "
                                      "issue slots, exponentials: clocks "
                                      "counted over those that the counters found in a call's "
                                      "longest kernel, the median of N >= "
                                      "2048; empty: no counter, or less than 3 % of the time",
                                      terminal.width)) {
    text += line + "\n";
  }
  return text;
}

std::string sources_table(const Terminal& terminal) {
  TextTable table({{"GPU"},
                   {"problem"},
                   {"source's kernel"},
                   {"its ms", Align::kRight},
                   {"predicted"},
                   {"ms", Align::kRight},
                   {"ratio", Align::kRight}});
  std::string reasons;
  int num_near = 0, num_all = 0, number = 0;
  for (const compare::SourceTime& time : compare::source_times()) {
    ++num_all;
    num_near += time.reason.empty() ? 1 : 0;
    const std::string mark = time.reason.empty() ? "" : " " + std::to_string(++number);
    table.row({time.gpu, time.problem, time.kernel, three_digits(time.source_ms), time.ours,
               three_digits(time.predicted_ms), fixed_text(time.ratio(), 2) + mark});
    if (time.reason.empty()) continue;
    const std::vector<std::string> lines = wrap(time.reason, terminal.width - 5);
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const std::string head = k == 0 ? std::to_string(number) + "." : "";
      reasons += head + std::string(5 - head.size(), ' ') + lines[k] + "\n";
    }
  }
  std::string text;
  for (const std::string& line : wrap("batch 4, d 64; 8 heads on the RTX 4000 Ada, 1 head on the "
                                      "RTX 3090; predicted from data "
                                      "sheets",
                                      terminal.width)) {
    text += line + "\n";
  }
  return text + "\n" + table.to_string(terminal) + "\n" + reasons + "\n" +
         wrapped(compare::source_note(), terminal.width) + "\n" + std::to_string(num_near) +
         " of " + std::to_string(num_all) + " within 30 %\n";
}

}  // namespace flashlab::cli
