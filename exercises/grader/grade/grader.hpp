// Grades submissions of one exercise. What all submissions share (inputs, expected results, counts
// of the solution) is made once; after that a Grader is read-only and may be used by many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

inline constexpr std::int64_t kMostGradingBytes = std::int64_t{256} << 20;

struct GraderOptions {
  /// Decides the inputs. A teacher fixes it; a student cannot see it from the exercise.
  std::uint64_t seed = 0x5eed'f1a5;
  bool explain = true;  // look for the reason of a wrong result, too
  /// What one submission may take: processor time (0: what the exercise allows), and memory beyond
  /// the grader's own (0: no limit), which is held where allocations are counted
  /// (toymachine/budget/budget.hpp).
  std::int64_t milliseconds = 0;
  std::int64_t bytes = kMostGradingBytes;
};

class Grader {
 public:
  /// Throws std::runtime_error when the exercise itself is broken: its reference or derived inputs
  /// do not run at one of its sizes.
  explicit Grader(std::shared_ptr<const Exercise> exercise, const GraderOptions& options = {});
  ~Grader();
  Grader(Grader&&) noexcept;

  const Exercise& exercise() const;
  /// Never throws on account of what was submitted; the same submission gets the same verdict.
  Verdict grade(const toy::SourceText& submission) const;
  Verdict grade(const std::string& name, const std::string& text) const;

 private:
  struct Shared;
  std::unique_ptr<const Shared> shared_;
};

}  // namespace flashlab::exercises
