// Terms that a sum lacks, or has too many.
#pragma once

#include <optional>
#include <string>

#include "exercises/grader/explain/failed_run.hpp"

namespace flashlab::exercises {

struct SumDifference {
  bool are_missing = true;  // false: they are too many
  std::size_t count = 0;
  std::string terms;  // "a[0][1]*b[1][0] + a[0][2]*b[2][0]"
};

/// Returns the difference between the wrong output and what it should be, if it is made of whole terms of one of them.
/// Nothing if neither formula is a sum, or if half of the terms differ.
std::optional<SumDifference> sum_difference(const FailedRun& run);

/// "the term a[0][1]*b[1][0] is missing"
std::string sum_text(const SumDifference& difference);

}  // namespace flashlab::exercises
