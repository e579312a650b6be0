// Grades submissions of one exercise. Shared data (inputs, expected results, counts of the
// solution) is computed once. After that a Grader is read-only, and many threads may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

inline constexpr std::int64_t kMostGradingBytes = std::int64_t{256} << 20;

struct GraderOptions {
  /// Determines the inputs. A teacher can fix it. A student cannot find it in the exercise.
  std::uint64_t seed = 0x5eed'f1a5;
  bool explain = true;  // whether to search for the reason of a wrong result
  /// Limits for one submission: processor time (0: the exercise's limit), and memory beyond the
  /// grader's own (0: no limit). The memory limit works where allocations are counted
  /// (toymachine/budget/budget.hpp).
  std::int64_t milliseconds = 0;
  std::int64_t bytes = kMostGradingBytes;
};

class Grader {
 public:
  /// Throws std::runtime_error if the exercise itself is broken: its reference, its naive
  /// program or its program for derived inputs fails at one of its sizes.
  explicit Grader(std::shared_ptr<const Exercise> exercise, const GraderOptions& options = {});
  ~Grader();
  Grader(Grader&&) noexcept;

  const Exercise& exercise() const;
  /// Returns the limits of one submission.
  toy::BudgetLimits limits() const;
  /// Never throws because of the submission. The same submission always gets the same verdict.
  Verdict grade(const toy::SourceText& submission) const;
  Verdict grade(const std::string& name, const std::string& text) const;

 private:
  struct Shared;
  std::unique_ptr<const Shared> shared_;
};

}  // namespace flashlab::exercises
