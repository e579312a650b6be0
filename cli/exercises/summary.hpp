// What a learner has done in all exercises, for the terminal and as a page.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/exercises/learner.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/report/reports.hpp"

namespace flashlab::cli {

/// One exercise and the learner's work on it.
struct SummarisedExercise {
  ExercisePointer exercise;
  double points = 0;       // the best so far
  bool is_passed = false;  //
  std::string work;        // text of the learner's file; empty: none, or it cannot be read
  std::optional<exercises::Verdict> verdict;     // of `work`, for programs
  std::optional<exercises::Histogram> of_class;  // the cycles of a class, with this program's
};

/// The cost of a program at the size at which costs are counted.
struct SummarisedCycles {
  std::string yours;   // empty: the program is not right, or its cycles do not count
  std::string full;    // cycles for full marks
  std::string proven;  // the proven best, or bounds on it; empty: not known
};

/// Explains the columns of cycles.
inline constexpr const char* kCyclesNote =
    "Cycles are counted at the size that a check shows. Where the cheapest program is not known, "
    "bounds are shown.";
SummarisedCycles summarised_cycles(const SummarisedExercise& one);

std::string summary_text(const std::vector<SummarisedExercise>& all, const Terminal& terminal);
/// Writes a self-contained page: the same, and the learner's programs.
void write_summary_page(std::ostream& out, const std::vector<SummarisedExercise>& all);

}  // namespace flashlab::cli
