// A submission run at one size: what it costs there, and the first thing that goes wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/judge/lane_cases.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/unrolled.hpp"

namespace flashlab::exercises {

/// An output that is not what it should be.
struct WrongOutput {
  std::size_t array = 0;     // into BoundProgram::arrays
  std::int64_t element = 0;  // of the array
  double value = 0;          // NaN: nobody stored it
  double expected = 0;
};

/// The inputs on which a run goes wrong, and how: an error of the machine, or a wrong output.
struct Failure {
  std::size_t entry = 0;  // into SizedCases::cases
  std::optional<toy::Diagnostic> error;
  std::uint64_t step = 0;  // of the error; 0: not known
  std::optional<WrongOutput> cell;
};

struct Attempt {
  const SizedCases* sized = nullptr;
  std::optional<toy::BoundProgram> bound;  // none: `refusal` says why it cannot be run
  std::vector<toy::Diagnostic> refusal;
  toy::Counters counters;
  std::optional<toy::UnrolledProgram> unrolled;  // programs on scalars
  std::optional<Failure> failure;

  bool passed() const { return bound.has_value() && refusal.empty() && !failure; }
};

/// Binds, counts, and runs all cases of the size: on lanes where elements are scalars, one after
/// the other on tiles. `lanes` are the cases as make_lane_cases has them for the solution; nothing
/// makes the attempt go without. Never throws on account of the program.
Attempt attempt(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                const SizedCases& sized, const LaneCase* lanes);

/// "c[0][1]".
std::string cell_name(const toy::BoundArray& array, std::int64_t element);

}  // namespace flashlab::exercises
