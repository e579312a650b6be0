// One verdict, for the person whose program it is about.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/grade/best_costs.hpp"

namespace flashlab::cli {

/// "✓ full marks", "x wrong": a sign and words, so that colour is not needed.
std::string outcome_text(exercises::Outcome outcome, const Terminal& terminal);

/// Outcome and points, what was found with its details, the checks that did not pass, costs beside
/// those of full marks, the solution and (where it is kept) the best ever, what is proved about the
/// best and the floor, what the program's own order allows, and which loads it could save. Lines
/// fit the terminal, but for quoted source.
std::string verdict_text(const exercises::Verdict& verdict, const exercises::Costs& best_ever,
                         const Terminal& terminal);

/// What the learner can do now, as a sentence with a command; empty when there is nothing left.
std::string next_step(const exercises::Exercise& exercise, const exercises::Verdict& verdict);

}  // namespace flashlab::cli
