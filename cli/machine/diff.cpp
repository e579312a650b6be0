// `flashlab diff`: compares two programs with the same result: their costs, where the costs cross,
// and their traces.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/formulas.hpp"
#include "cli/machine/output_diff.hpp"
#include "cli/machine/program_diff.hpp"
#include "cli/machine/requests.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/execution.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"
#include "toymachine/trace/step_texts.hpp"
#include "toymachine/trace/trace_table.hpp"

namespace flashlab::cli {
namespace {

constexpr std::int64_t kSmallTrace = 40;  // steps; shown by default

struct DiffFlags : DiffRequest {
  bool json = false, trace = false, no_trace = false, elide = false;
  TerminalOptions terminal;
};

std::string trace_text(const DiffFlags& options, const Side& side, const Terminal& terminal) {
  std::ostringstream text;
  const auto sink = toy::make_trace_table(
      text, {.unicode = terminal.unicode, .color = terminal.color, .width = terminal.width});
  toy::TraceOptions trace;
  trace.elide = options.elide;
  trace.max_rows = static_cast<std::uint64_t>(options.machine.limits.max_trace_rows);
  value_or_fail(trace_to(*sink, side.loaded, side.bound, options.run, trace), *side.loaded.source);
  return styled(side.loaded.short_name(), Style::kBold, terminal) + "\n" + text.str();
}

void print_traces(const DiffFlags& options, const Comparison& comparison,
                  const Terminal& terminal) {
  // Of many registers a table shows as many as it has room for, so these get half of the window each.
  constexpr std::size_t kGap = 4;
  const auto has_many_registers = [](const Side& side) {
    return static_cast<std::size_t>(side.bound.num_registers) > toy::kFewRegisters;
  };
  const bool has_many = has_many_registers(comparison.left) || has_many_registers(comparison.right);
  Terminal column = terminal;
  column.width =
      has_many && terminal.width > kGap ? (terminal.width - kGap) / 2 : 0;  // 0: no limit
  const std::string left = trace_text(options, comparison.left, column);
  const std::string right = trace_text(options, comparison.right, column);
  Terminal unlimited = terminal;
  unlimited.width = 0;
  const auto num_cut = [&](const std::string& text) {
    std::size_t count = 0;
    const std::string dots = terminal.unicode ? "…" : "...";
    for (std::size_t at = 0; (at = text.find(dots, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const bool is_whole =
      !has_many || num_cut(left) + num_cut(right) <=
                       num_cut(trace_text(options, comparison.left, unlimited)) +
                           num_cut(trace_text(options, comparison.right, unlimited));
  const std::string both = is_whole ? side_by_side(left, right, terminal) : "";
  std::cout << "\n";
  if (!both.empty()) {
    std::cout << both;
    return;
  }
  std::cout << trace_text(options, comparison.left, terminal) << "\n"
            << trace_text(options, comparison.right, terminal);
}

int print_outputs(const DiffFlags& options) {
  const OutputDiff diff = compare_outputs(options);
  if (options.json) {
    std::cout << output_diff_json(diff).dump(2) << "\n";
  } else {
    std::cout << output_diff_text(diff, options.terminal.terminal());
  }
  return diff.agree() ? kExitGood : kExitProgramWrong;
}

int print_diff(const DiffFlags& options) {
  if (options.left == "-" && options.right == "-") {
    throw request_failure("both programs are standard input", "at most one -");
  }
  if (options.outputs) return print_outputs(options);
  const Comparison comparison = compare_costs(options);
  if (options.json) {
    std::cout << comparison_json(comparison).dump(2) << "\n";
    return kExitGood;
  }
  const Terminal terminal = options.terminal.terminal();
  std::cout << comparison_text(comparison, terminal);
  const bool small = comparison.left.counters.steps <= kSmallTrace &&
                     comparison.right.counters.steps <= kSmallTrace;
  if (options.trace || options.elide || (small && !options.no_trace)) {
    print_traces(options, comparison, terminal);
  }
  return kExitGood;
}

}  // namespace

CommandAction add_diff(CLI::App& app) {
  auto options = std::make_shared<DiffFlags>();
  CLI::App& command =
      add_command(app, "diff", "Two programs side by side: formulas, counts, traces",
                  "  flashlab diff softmax_safe softmax_online\n"
                  "  flashlab diff softmax_safe softmax_online -D n=1000 --cost LOAD=100\n"
                  "  flashlab diff matmul_inner matmul_outer --trace\n"
                  "  flashlab diff mine.toy flash2 --outputs        do they compute the same?\n");
  add_program_argument(command, options->left, "first");
  add_program_argument(command, options->right, "second");
  add_flag(command, "--json", options->json, "as JSON");
  const Flag trace = add_flag(command, "--trace", options->trace, "the traces, however long");
  const Flag no_trace = add_flag(command, "--no-trace", options->no_trace, "no traces");
  no_trace.excludes(trace);
  const Flag elide =
      add_flag(command, "--elide", options->elide, "the traces: of each loop first, second, last");
  add_flag(command, "--outputs", options->outputs,
           "compare the outputs instead, by formulas where elements are numbers, otherwise by "
           "values; exit code 1 if they differ")
      .excludes(trace)
      .excludes(no_trace)
      .excludes(elide);
  options->machine.add_to(command, true);
  options->run.add_to(command);
  options->terminal.add_to(command);
  return [options] { return print_diff(*options); };
}

}  // namespace flashlab::cli
