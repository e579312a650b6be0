// Grades the strategies against an exercise, with several seeds: none may gain a point that it should not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/prove/strategies.hpp"

namespace flashlab::exercises {

/// A strategy that gained points with one of the seeds.
struct Gain {
  StrategyFamily family = StrategyFamily::kLessWork;
  std::string name;        // of the strategy
  std::string text;        // of its program
  std::uint64_t seed = 0;  // the first such seed
  std::size_t seeds = 0;   // their number
  double points = 0;       // with the first such seed
  std::string why;         // "wrong at n = 18", "188 loads, the solution 190"
};

struct FamilyCounts {
  std::size_t strategies = 0;
  // With the first seed:
  std::size_t wrong = 0;    // 0 points
  std::size_t refused = 0;  // 0 points, because it does not fit the exercise or a limit
  std::size_t costly = 0;   // right, and fewer points than the solution
  std::size_t equal =
      0;  // right at all sizes that were tried, and not cheaper: the solution in other words
  std::size_t gains = 0;
  std::string excused;  // why gains are no fault, in the words of exercise.toml; may be empty
};

struct RedTeamReport {
  std::string exercise;  // its id
  std::array<FamilyCounts, kNumStrategyFamilies> families;
  std::vector<Gain> gains;  // those that exercise.toml does not excuse

  std::size_t strategies() const;
};

struct RedTeamOptions {
  std::uint64_t first_seed = GraderOptions{}.seed;
  std::size_t seeds = 1;  // each is drawn from the one before
  std::size_t every = 1;  // of each family, every k-th strategy alone; always the first
  std::size_t jobs = 1;
  /// Judges times. Without it, programs that only take longer are not judged in exercises about speed.
  VerdictStep step;
  /// Called after each grading, from any thread but never concurrently; may be empty.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

/// The report does not depend on `jobs`. Exercises with questions and demonstrations have no strategies.
/// Throws std::runtime_error if the exercise is broken.
RedTeamReport attack(const std::shared_ptr<const Exercise>& exercise,
                     const RedTeamOptions& options = {});

}  // namespace flashlab::exercises
