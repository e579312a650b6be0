// Measures the strength of an exercise's inputs: grades every program that differs from its
// solution by one edit. Each must be rejected or proved equal.
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
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/repair/edits.hpp"

namespace flashlab::exercises {

enum class Fate : std::uint8_t {
  kRejected,    // not accepted
  kSameFloats,  // accepted, and equal value numbers prove that its outputs are the solution's
  kSameForms,   // accepted; equal formulas prove it (not if range or rounding is judged)
  kExplained,   // accepted, equal on paper; exercise.toml says why no input differs
  kCostlier,    // accepted without a proof, with a higher cost than the solution
  kSurvivor,    // accepted without a proof, not costlier
};
inline constexpr std::size_t kNumFates = 6;
std::string_view to_string(Fate fate);  // "same_floats"

struct Mutant {
  Edit edit;
  Fate fate = Fate::kRejected;
  std::uint32_t named_line = 0;  // kRejected: line of the first finding; 0: none
  bool named_right = false;      // it is the edited line: is_place_of()
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
  /// Called after each mutant, from any thread but never concurrently; may be empty.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

/// Tests every one-edit mutant of the solution that assembles. The report does not depend on
/// `jobs`. Exercises with questions have no mutants. Throws std::runtime_error if the
/// exercise is broken.
MutantReport test_mutants(const std::shared_ptr<const Exercise>& exercise,
                          const MutantOptions& options = {});

/// Returns whether the line is the place of the edit: its own line, either line of a swap; for a
/// removed line, also its two neighbours.
bool is_place_of(const Edit& edit, std::uint32_t line, const toy::Program& program);

}  // namespace flashlab::exercises
