// Finds the step in which a failed run departs from what the solution computes, and what is wrong
// there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exercises/grader/explain/failed_run.hpp"

namespace flashlab::exercises {

struct WrongStep {
  enum class Kind : std::uint8_t {
    kForeign,    // the solution never computes this value
    kOverwrote,  // it overwrote a register that a later step needs
    kExchanged,  // with its sources exchanged it would compute a value of the solution
    kNotAdded,   // it stores over a value that it should add to
  };
  Kind kind = Kind::kForeign;
  std::int32_t step = kNobody;
  std::string sentence;
};

/// Returns nothing if the run has no formulas, or if every step that the failing one depends on
/// computes a value of the solution.
std::optional<WrongStep> first_wrong_step(const FailedRun& run);

/// "the negative of what it should be", "the reciprocal …": the relation between the results of an
/// instruction (row of instruction_set()) before and after its sources are exchanged.
std::string exchange_text(std::size_t row);

}  // namespace flashlab::exercises
