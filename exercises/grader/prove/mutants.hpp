// How strong an exercise's inputs are: every program one edit away from its solution is graded, and
// must be rejected or proved equal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/explain/edits.hpp"
#include "exercises/grader/grade/grader.hpp"

namespace flashlab::exercises {

enum class Fate : std::uint8_t {
  kRejected,    // not accepted
  kSameFloats,  // accepted, and equal value numbers prove that its outputs are the solution's
  kSameForms,   // accepted, and equal formulas prove it: not where range or rounding is judged
  kExplained,   // accepted, equal on paper, and exercise.toml says why no input can tell
  kCostlier,    // accepted without a proof, at a higher cost than the solution's
  kSurvivor,    // accepted without a proof, and no dearer
};
inline constexpr std::size_t kNumFates = 6;
std::string_view to_string(Fate fate);  // "same_floats"

struct Mutant {
  Edit edit;
  Fate fate = Fate::kRejected;
  std::uint32_t named_line = 0;  // kRejected: of the first finding; 0: none
  bool named_right = false;      // it is the edited one: either of a swap, a neighbour of a drop
};

struct MutantReport {
  std::string exercise;  // its id
  std::vector<Mutant> mutants;

  std::size_t count(Fate fate) const;
  std::size_t named_right() const;
};

struct MutantOptions {
  GraderOptions grader;
  std::size_t jobs = 1;
  /// Called from any thread after each mutant, one call at a time; may be empty.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

/// Every one-edit mutant of the solution that assembles; the same report whatever `jobs` is.
/// Exercises with questions have none. Throws std::runtime_error when the exercise is broken.
MutantReport test_mutants(const std::shared_ptr<const Exercise>& exercise,
                          const MutantOptions& options = {});

/// Whether the line is the place of the edit: its own, either of a swap; for a line that is gone,
/// those that are neighbours now, too.
bool is_place_of(const Edit& edit, std::uint32_t line, const toy::Program& program);

}  // namespace flashlab::exercises
