// Formats one verdict for the author of the program.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/grade/best_costs.hpp"

namespace flashlab::cli {

/// Returns "✓ full marks", "x wrong": a sign and words, so that colour is not needed.
std::string outcome_text(exercises::Outcome outcome, const Terminal& terminal);

/// Returns outcome and points; findings with details; failed checks; costs compared with full
/// marks, the solution and (if recorded) the best ever; what is proved about the best and the
/// floor; what the program's own order allows; and which loads it could save. Lines fit the
/// terminal, except quoted source.
std::string verdict_text(const exercises::Verdict& verdict, const exercises::Costs& best_ever,
                         const Terminal& terminal);

/// Returns the same without what is proved about orders and loads: the first finding about the cost,
/// and the costs in at most ten lines.
std::string brief_verdict_text(const exercises::Exercise& exercise,
                               const exercises::Verdict& verdict, const Terminal& terminal);

/// Returns whether verdict_text() says more than brief_verdict_text().
bool has_more_to_explain(const exercises::Verdict& verdict);

/// Returns the learner's next step as a sentence with a command; empty if nothing is left.
std::string next_step(const exercises::Exercise& exercise, const exercises::Verdict& verdict);

}  // namespace flashlab::cli
