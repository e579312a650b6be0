// The JSON about exercises, for the command and the JSON interface. The command adds the learner's
// stored progress; the interface has none.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/exercises/loading.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/grade/failing_run.hpp"
#include "exercises/grader/grade/progress.hpp"

namespace flashlab::cli {

nlohmann::ordered_json exercise_list_json(const std::vector<ExercisePointer>& all,
                                          const exercises::Progress& progress,
                                          const std::string& next);

/// Returns the problem, its machine, how points are earned, and the text to start from.
nlohmann::ordered_json exercise_json(const exercises::Exercise& exercise);

/// Returns what hint `level`, from 1, is about: "the concept".
std::string hint_name(std::size_t level);
nlohmann::ordered_json hint_json(const exercises::Exercise& exercise, std::size_t level);

/// A submission, and the progress after its verdict.
struct CheckedFile {
  const exercises::Exercise& exercise;
  const std::string& file;
  const exercises::Progress& progress;
  const std::vector<std::string>& ids;
};
nlohmann::ordered_json verdict_json(const CheckedFile& checked, const exercises::Verdict& verdict);

/// Writes the player for the steps up to a little after the guilty one. Throws Failure.
void write_failing_page(const exercises::FailingRun& run, std::ostream& out);

}  // namespace flashlab::cli
