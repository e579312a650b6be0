// The way through the exercises: what a verdict changes in a learner's progress, and which exercise
// is next.
#pragma once

#include <string>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/grade/progress.hpp"

namespace flashlab::exercises {

/// Returns the first unfinished exercise after `id`, else the first one of all; empty: all are
/// done.
std::string next_after(const std::vector<std::string>& ids, const Progress& progress,
                       const std::string& id);
/// Returns the current exercise if it is unfinished, else the next one.
std::string next_exercise(const std::vector<std::string>& ids, const Progress& progress);

/// Returns the most points that a check gave: 0 without an entry, no more than the exercise has now.
double best_points(const ProgressEntry* entry, const Exercise& exercise);

/// When a file was checked, and which.
struct CheckedAt {
  std::string when;  // "2026-11-28T10:00:00Z"; empty: the result is not kept
  std::string file;  // may be empty
};

/// Counts a check, keeps the best points and a result that earned some, and makes this exercise the
/// current one.
void record_verdict(Progress& progress, const std::string& id, const Verdict& verdict,
                    const CheckedAt& checked = {});

}  // namespace flashlab::exercises
