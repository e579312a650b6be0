// Finds the step in which a failed run departs from what the solution computes, and what is wrong
// there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/explain/failed_run.hpp"

namespace flashlab::exercises {

struct WrongStep {
  enum class Kind : std::uint8_t {
    kForeign,    // the solution never computes this value
    kOverwrote,  // it overwrote a register that a later step needs
    kExchanged,  // with its sources exchanged it would compute a value of the solution
    kTooEarly,   // with a later value of a register it would compute a value of the solution
    kNotAdded,   // it stores over a value that it should add to
  };
  Kind kind = Kind::kForeign;
  std::int32_t step = kNobody;
  std::string sentence;
  std::string place;  // the register that was overwritten or used; empty for other kinds
};
std::string to_string(WrongStep::Kind kind);  // "overwrote"

/// "step 8 (line 27) is the first that computes what the exercise's solution does not: …"
std::string foreign_text(const FailedRun& run, std::int32_t step);

/// Returns nothing if the run has no formulas, or if every step that the failing one depends on
/// computes a value of the solution.
std::optional<WrongStep> first_wrong_step(const FailedRun& run);

/// Whether one line stores several values into the wrong output, whose sum belongs there.
std::optional<WrongStep> not_added(const FailedRun& run);

/// Returns what is wrong with every step whose value the solution does not compute, whatever
/// depends on it: of one step, each kind but kNotAdded.
std::vector<WrongStep> all_wrong_steps(const FailedRun& run);

/// "the negative of what it should be", "the reciprocal …": the relation between the results of an
/// instruction (row of instruction_set()) before and after its sources are exchanged.
std::string exchange_text(std::size_t row);

}  // namespace flashlab::exercises
