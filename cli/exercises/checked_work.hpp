// Grades the learner's file and stores the result, for `check` and `watch`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/exercises/learner.hpp"
#include "exercises/grader/grade/grader.hpp"

namespace CLI {
class App;
}

namespace flashlab::cli {

/// Adds the arguments [ID] [FILE] of `check` and `watch`.
void add_work_argument(CLI::App& command, std::vector<std::string>& words);

/// Reads the file. Throws Failure: no file, not a regular file, longer than the exercise allows.
std::shared_ptr<const toy::SourceText> read_work(const Work& work);

/// Counts the check, stores the best result and the file's path, and makes this exercise
/// the current one.
void remember_verdict(Learner& learner, const Work& work, const exercises::Verdict& verdict);

/// How much `check` says about the cost of a right program.
enum class Explanation : std::uint8_t { kBrief, kFull };

/// Returns the verdict, the progress so far, the conditions for full marks, and the next step.
std::string check_text(const Learner& learner, const Work& work, const exercises::Verdict& verdict,
                       const toy::SourceText& source, Explanation explanation,
                       const Terminal& terminal);

/// Returns 0 if right, 1 if wrong, 3 if a limit was hit, 2 if unreadable.
int exit_code_of(const exercises::Verdict& verdict);

}  // namespace flashlab::cli
