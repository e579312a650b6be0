// Finds the step whose value is wrong, on numbers and on tiles: no step of the solution has it. With
// the values of a line of the solution in the place of those of its line, all results are right, if
// that is the only fault.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/explain/explain.hpp"

namespace flashlab::exercises {

/// A tile, or a number as a tile of one.
struct TileShape {
  std::int64_t rows = 1, cols = 1;
  bool operator==(const TileShape&) const = default;
};

/// What a line writes, beside what it should write.
struct WrongValue {
  std::uint32_t line = 0;
  std::uint32_t solution_line = 0;  // whose values would be right; 0: unknown
  std::uint64_t solution_step = 0;  // of the first value that differs
  std::uint64_t step = 0;           // the first one of the line with another value
  bool is_first = false;            // no step before it has a value that the solution lacks
  std::string name;                 // of the register: "S", "Q[1]"
  TileShape shape, should_have;     // should_have: if solution_line is known
  std::int64_t row = 0, col = 0;    // of the first element that differs, if the shapes are equal
  double value = 0, should_be = 0;  // of that element
};

/// Returns nothing if all steps have values of the solution, on several machines, and for long runs.
std::optional<WrongValue> find_wrong_value(const FailedAttempt& failed);

/// Whether all results of the size's cases are right with the values of the solution's line in the
/// place of those of the submission's line.
bool is_right_with_values(const ProgramTask& task,
                          const std::shared_ptr<const toy::Program>& program, std::uint32_t line,
                          std::uint32_t solution_line, const SizedCases& sized);

/// The claim that the submission is right with the values of the solution's line.
Claim claim_of(const WrongValue& wrong);

/// "step 63 (line 31) is the first wrong step: S[0][2] is 0.12, and should be -inf"
std::string wrong_value_text(const WrongValue& wrong);

/// "step 63 (line 31) is the first wrong step: it `does`; `should`", or that this makes all results right.
std::string wrong_step_text(const WrongValue& wrong, const std::string& does,
                            const std::string& should);

/// The tile of the wrong element and the step that stored it last.
struct WrongTile {
  std::uint64_t step = 0;  // 0: none stored it
  std::uint32_t line = 0;
  std::string text;  // "it lies in tile o[1][0], which step 92 (line 47) stores"; empty: unknown
};
WrongTile wrong_tile(const FailedAttempt& failed);

}  // namespace flashlab::exercises
