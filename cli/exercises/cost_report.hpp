// What a right program costs, in at most ten lines.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::cli {

/// Returns the costs beside full marks, the naive program and (where it is known) the proven best,
/// and one line that explains the points for them. Empty if the verdict has no costs.
std::string cost_report(const exercises::Exercise& exercise, const exercises::Verdict& verdict,
                        const Terminal& terminal);

/// Returns the programs of a ranking at its sizes, and the submission's place among them. Empty
/// without a ranking.
std::string ranking_text(const exercises::Verdict& verdict, const Terminal& terminal);

}  // namespace flashlab::cli
