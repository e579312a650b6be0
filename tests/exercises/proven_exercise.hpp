// Exercises with a proof beside them, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/proven.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {

inline std::shared_ptr<const exercises::Exercise> read_good(const std::string& id,
                                                            const exercises::Files& files) {
  exercises::ReadResult read = exercises::read_exercise(id, files);
  INFO(exercises::format(read.errors, files));
  REQUIRE(read.exercise);
  return std::make_shared<const exercises::Exercise>(std::move(*read.exercise));
}

/// An exercise of the course, or the template.
inline exercises::Files files_of(const std::string& id) {
  for (const exercises::ExerciseSource& source : exercises::builtin_exercises()) {
    if (source.id != id) continue;
    exercises::Files files = source.files;
    files.erase("proven.json");
    return files;
  }
  REQUIRE(id == "01_dot");
  return exercises::template_exercise().files;
}

/// Cycles that are proved at one size; none at all: it was not searched.
struct Bounds {
  int floor = 0, at_least = 0, at_most = 0;
};

inline exercises::ProvenSize proven_size(const exercises::Size& size, const Bounds& bounds) {
  exercises::ProvenSize one;
  one.size = size;
  one.verdict = bounds.at_most == 0                 ? exercises::ProofVerdict::kNotSearched
                : bounds.at_least == bounds.at_most ? exercises::ProofVerdict::kOptimal
                                                    : exercises::ProofVerdict::kBounded;
  one.allowed = "sums in any order of their terms";
  one.floor_loads = bounds.floor / 2;
  one.floor_cycles = bounds.floor;
  one.at_least_cycles = bounds.at_most == 0 ? bounds.floor : bounds.at_least;
  one.at_most_cycles = bounds.at_most == 0 ? 1'000'000 : bounds.at_most;
  one.program = "; SPOILER\n";
  return one;
}

/// The exercise with what is proved at its sizes, in their order.
inline exercises::Files with_proof(const std::string& id, const std::vector<Bounds>& bounds) {
  exercises::Files files = files_of(id);
  const auto exercise = read_good(id, files);
  REQUIRE(bounds.size() == exercise->program.sizes.size());
  exercises::Proven proven;
  proven.command = "by hand";
  proven.task = exercises::proven_task(exercise->program);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    proven.sizes.push_back(proven_size(exercise->program.sizes[i], bounds[i]));
  }
  files["proven.json"] = exercises::to_json(proven);
  return files;
}

}  // namespace flashlab::test
