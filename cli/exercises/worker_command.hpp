// The command as its own grading worker.
#pragma once

#include <memory>

#include "cli/exercises/learner.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/isolation/isolated_grader.hpp"

namespace flashlab::cli {

/// This executable, called as `flashlab grading-worker`, which is hidden: it speaks bytes.
exercises::WorkerProgram worker_program();

/// A grader in a process of its own. Throws Failure: the exercise is broken, or no process can be
/// started.
std::unique_ptr<exercises::IsolatedGrader> isolated_grader(
    const ExercisePointer& exercise, const exercises::GraderOptions& options = {});

}  // namespace flashlab::cli
