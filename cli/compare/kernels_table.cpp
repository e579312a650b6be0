#include "cli/compare/kernels_table.hpp"

#include <optional>

#include "cli/terminal/text_table.hpp"
#include "compare/report/counted_units.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? fixed_text(*ratio, 2) : "";
}

}  // namespace

std::string kernels_table(const std::vector<compare::Row>& rows, const Terminal& terminal) {
  TextTable table({{"kernel", Align::kLeft, true},
                   {"type"},
                   {"rows", Align::kRight},
                   {"15 %", Align::kRight},
                   {"30 %", Align::kRight},
                   {"time", Align::kRight, true},
                   {"tensor", Align::kRight},
                   {"shared", Align::kRight},
                   {"issue", Align::kRight},
                   {"exp", Align::kRight}});
  for (const compare::KernelSummary& kernel : compare::kernel_summaries(rows)) {
    table.row({printable(kernel.kernel), printable(kernel.type),
               std::to_string(kernel.close.num_all), std::to_string(kernel.close.num_close),
               std::to_string(kernel.near.num_close),
               fixed_text(kernel.least, 2) + "-" + fixed_text(kernel.most, 2),
               ratio_text(kernel.units.products), ratio_text(kernel.units.shared),
               ratio_text(kernel.units.issue), ratio_text(kernel.units.exps)});
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

}  // namespace flashlab::cli
