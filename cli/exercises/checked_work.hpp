// Grading the learner's file and remembering the result, for `check` and for `watch`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/exercises/learner.hpp"
#include "exercises/grader/grade/grader.hpp"

namespace CLI {
class App;
}

namespace flashlab::cli {

/// [ID] [FILE], as `check` and `watch` take them.
void add_work_argument(CLI::App& command, std::vector<std::string>& words);

/// The file's text. Throws Failure: no file, no regular one, longer than the exercise allows.
std::shared_ptr<const toy::SourceText> read_work(const Work& work);

/// Counts the check, keeps the best result, the file's place, and that this exercise is the one
/// worked on.
void remember_verdict(Learner& learner, const Work& work, const exercises::Verdict& verdict);

/// The verdict, what was reached so far, what full marks ask for, what comes next.
std::string check_text(const Learner& learner, const Work& work, const exercises::Verdict& verdict,
                       const toy::SourceText& source, const Terminal& terminal);

/// 0 right, 1 wrong, 3 a limit was hit, 2 unreadable.
int exit_code_of(const exercises::Verdict& verdict);

}  // namespace flashlab::cli
