// The first step whose result is not a number, or too large for the machine: from which values it was made, which lines
// wrote them, and what a right program has there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/repair/repair.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::exercises {

/// A register that the step reads: one number of it, if it holds a tile.
struct ReadNumber {
  std::string name;          // "A", "O[0]"
  std::size_t position = 0;  // of the operand
  std::int64_t row = 0, col = 0;
  bool is_one = true;  // the register holds a single number
  double value = 0;
  std::uint32_t written_in = 0;  // the line that wrote it last
};

struct UndefinedResult {
  std::uint32_t line = 0, site = 0;
  std::uint64_t earlier = 0;  // executions of the line before this one
  bool is_nan = true;         // false: +inf
  bool is_product = false;    // of tiles: `numbers` are those of its operands that are -inf
  std::vector<ReadNumber> numbers;
};

/// Returns the step at which the run on these inputs ends with such a result, if its operands explain it. The program
/// is one machine's.
std::optional<UndefinedResult> undefined_result(const toy::BoundProgram& bound, const Case& entry);

/// "-inf - -inf is not a number: A (line 33) and M (line 25) are both -inf here. M should be 0.13." Adds the claim. Empty
/// if the run ended otherwise, or if it does not end so at a second size.
std::string undefined_text(const FailedAttempt& failed, const Repairs& repairs, Claim& claim);

/// Which values make the result undefined, without those that differ from input to input.
std::string pattern_of(const UndefinedResult& result);

}  // namespace flashlab::exercises
