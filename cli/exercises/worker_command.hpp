// Runs this command as its own grading worker.
#pragma once

#include <memory>

#include "cli/exercises/learner.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/isolation/isolated_grader.hpp"

namespace flashlab::cli {

/// Returns this executable, called as `flashlab grading-worker`. That command is hidden, because it
/// uses a binary protocol.
exercises::WorkerProgram worker_program();

/// Returns a grader in a separate process. Throws Failure: the exercise is broken, or no process
/// can be started.
std::unique_ptr<exercises::IsolatedGrader> isolated_grader(
    const ExercisePointer& exercise, const exercises::GraderOptions& options = {});

}  // namespace flashlab::cli
