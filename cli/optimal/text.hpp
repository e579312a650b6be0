// Formats the answers of `flashlab optimal`. An unfinished search is never called optimal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/optimal/options.hpp"
#include "cli/terminal/terminal.hpp"
#include "optimal/solve/count_programs.hpp"
#include "optimal/solve/solve.hpp"

namespace flashlab::cli {

/// One machine, and the search's result.
struct Solved {
  int registers = 0;
  toy::OperandRule rule = toy::OperandRule::kAny;
  optimal::Answer answer;
  /// The count, if requested and the answer is proved; nothing if counting reached a limit.
  std::optional<optimal::ProgramCount> count;
};

/// Returns "20 cycles, proved optimal: 8 loads, …", "between 60 and 70 cycles (program below), not
/// proved", "proved impossible with 2 registers".
std::string verdict_sentence(const Solved& solved, const OptimalRequest& request,
                             const OptimalOptions& options);

/// Returns "The program itself takes 43 cycles, 6 more than the best."; empty without a program.
std::string program_sentence(const Solved& solved, const OptimalRequest& request);

/// Returns "2x2x2: A product of 2 x 2 and 2 x 2", with what is allowed and the costs.
std::string optimal_heading(const OptimalRequest& request, const OptimalOptions& options,
                            const Terminal& terminal);

/// Returns a row for each number of registers, the rules side by side, and the meaning
/// of the verdicts.
std::string frontier_table(const std::vector<Solved>& all, const OptimalRequest& request,
                           const OptimalOptions& options, const Terminal& terminal);

/// Plots cycles of the programs over registers, a line for each rule; empty for fewer
/// than two points.
std::string frontier_plot(const std::vector<Solved>& all, const OptimalRequest& request,
                          const Terminal& terminal);

nlohmann::ordered_json optimal_json(const std::vector<Solved>& all, const OptimalRequest& request,
                                    const OptimalOptions& options);

}  // namespace flashlab::cli
