// Measures whether what the grader says is true: takes the mutants of an exercise, and checks each remark
// on them at sizes and on inputs that the grader did not use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/repair/edits.hpp"

namespace flashlab::exercises {

/// A remark that does not hold elsewhere.
struct FalseRemark {
  Edit mutant;
  Claim claim;
  Size size;  // where it is false; no smaller than that of the verdict
};

struct RemarkReport {
  std::string exercise;     // its id
  std::size_t mutants = 0;  // rejected ones with remarks
  std::size_t remarks = 0;
  std::size_t decided = 0;  // at one further size or more
  std::size_t decided_twice = 0;
  std::vector<FalseRemark> wrong;
};

struct RemarkOptions {
  std::uint64_t seed = 1;  // of the further sizes and inputs, and of the sample
  std::size_t every = 1;   // checks every k-th mutant
  std::function<void(std::size_t done, std::size_t all)> progress;  // may be empty
};

/// Grades mutants with the usual options and checks their remarks. Throws std::runtime_error if the exercise
/// is broken.
RemarkReport check_remarks(const std::shared_ptr<const Exercise>& exercise,
                           const RemarkOptions& options);

}  // namespace flashlab::exercises
