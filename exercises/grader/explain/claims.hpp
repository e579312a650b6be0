// Checks what a finding states at a size and on inputs that are given: before it is said, at sizes
// other than that of the failure, and in tests at sizes that no learner gets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/explain/explain.hpp"

namespace flashlab::exercises {

enum class Truth : std::uint8_t {
  kHolds,
  kFalse,
  kUndecided,  // the submission is right at this size, or its formulas are not known there
};

/// Whether the claim on the submission holds at this size.
Truth truth_of(const Claim& claim, const ProgramTask& task,
               const std::shared_ptr<const toy::Program>& program, const SizedCases& sized);

/// The claim that a remark of this kind holds of the line.
Claim remark_claim(const std::string& kind, std::uint32_t line, const std::string& place);

/// Whether the claim also holds at a second size, on its drawn inputs: the next larger one that
/// decides it, or else a smaller one; of loops that run no round, at all others. If an exercise
/// has a single size, its formulas decide.
Truth truth_elsewhere(const Claim& claim, const FailedAttempt& failed);
bool is_confirmed(const Claim& claim, const FailedAttempt& failed);

/// Returns how the wrong output's array relates to what it should be, if one number is between them
/// at several sizes: "every element of dk is 1/scale times what it should be". Adds the claim.
std::string ratio_text(const FailedAttempt& failed, Claim& claim);

/// "the loop in line 24 runs no round at i = 0", if the solution's loop over this variable runs
/// some everywhere. Adds the claim.
std::string no_rounds_text(const FailedAttempt& failed, Claim& claim);

}  // namespace flashlab::exercises
