// What `flashlab optimal` says of its answers. No unfinished search is called optimal.
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

/// One machine, and what the search found for it.
struct Solved {
  int registers = 0;
  toy::OperandRule rule = toy::OperandRule::kAny;
  optimal::Answer answer;
  /// Where it was asked for and the answer is proved; nothing where counting reached a limit.
  std::optional<optimal::ProgramCount> count;
};

/// "20 cycles, proved optimal: 8 loads, …", "between 60 and 70 cycles (program below), not proved",
/// "proved impossible with 2 registers".
std::string verdict_sentence(const Solved& solved, const OptimalRequest& request,
                             const OptimalOptions& options);

/// "The program itself takes 43 cycles, 6 more than the best."; empty where no program was given.
std::string program_sentence(const Solved& solved, const OptimalRequest& request);

/// "2x2x2: A product of 2 x 2 and 2 x 2", and what is allowed and what it costs.
std::string optimal_heading(const OptimalRequest& request, const OptimalOptions& options,
                            const Terminal& terminal);

/// A row for each number of registers, the rules side by side, and what the verdicts mean.
std::string frontier_table(const std::vector<Solved>& all, const OptimalRequest& request,
                           const OptimalOptions& options, const Terminal& terminal);

/// Cycles of the programs over registers, a line for each rule; empty for less than two points.
std::string frontier_plot(const std::vector<Solved>& all, const OptimalRequest& request,
                          const Terminal& terminal);

nlohmann::ordered_json optimal_json(const std::vector<Solved>& all, const OptimalRequest& request,
                                    const OptimalOptions& options);

}  // namespace flashlab::cli
